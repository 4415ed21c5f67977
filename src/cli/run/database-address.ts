/** Reads the address of a PostgreSQL database. It is a secret, because it holds credentials: nothing of it is repeated. */
import type { SecretSource } from '../../model/stack/target.ts';
import { quoted } from '../../model/quoted.ts';
import type { CliHost } from '../cli-host.ts';
import { readSecret, sourceToShow } from './read-secret.ts';

/** @param about.what for the message when there is none. @returns a sentence as `problem` when it is not valid. @throws SecretError */
export async function readDatabaseAddress(
  source: SecretSource,
  directory: string,
  { env, secrets, what }: Pick<CliHost, 'env' | 'secrets'> & { readonly what: string },
): Promise<{ readonly address: string; readonly problem?: string }> {
  const address = secrets.keep(await readSecret(source, { env, directory }, what), sourceToShow(source));
  if (URL.canParse(address)) secrets.keep(new URL(address).password, sourceToShow(source));
  const why = addressProblem(address);
  if (why === undefined) return { address };
  const from =
    'env' in source ? `the environment variable ${quoted(source.env)}` : `the file ${quoted(source.file)}`;
  return { address, problem: `${from} holds no address of a PostgreSQL database: ${why}` };
}

const addressForm = 'postgres://USER:PASSWORD@HOST:PORT/DATABASE';

/** What is wrong with an address and what to write instead; undefined when it is valid. */
function addressProblem(address: string): string | undefined {
  if (!/^postgres(?:ql)?:\/\//i.test(address))
    return `it does not begin with "postgres://"; write ${addressForm}`;
  if (!URL.canParse(address))
    return `it is no valid URL; write ${addressForm}, and percent-encode what is special in a URL, such as "/" as %2F and "@" as %40`;
  return undefined;
}
