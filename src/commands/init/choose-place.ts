/** Chooses the place in a service that a stack manages, an organization or a mount, and checks answers by the rules of stack files. */
import { dialects } from '../../api/dialects.ts';
import { readTarget } from '../../manifest/read-target.ts';
import type { TargetDocument } from '../../manifest/schema/target-schema.ts';
import type { Dialect, Target } from '../../model/stack.ts';
import { CommandStop } from '../../run/command-stop.ts';
import type { ChosenToken, TokenWish } from './choose-token.ts';
import { answerTo, type Asking } from './questions.ts';

export interface TargetFlags extends TokenWish {
  readonly embedded?: boolean;
  readonly service?: string;
  readonly url?: string;
  readonly dialect?: string;
  readonly organization?: string;
  readonly mount?: string;
  readonly namespace?: string;
  readonly owns: readonly string[];
  readonly target?: string;
  readonly caCert?: string;
}

export interface ChoosingTarget extends Asking {
  readonly flags: TargetFlags;
  /** the name of the stack, if nothing else is given */
  readonly usualName: string;
  /** Lists the organizations that the token sees; empty when that is not known. */
  readonly listOrganizations: (target: Target, token: ChosenToken) => Promise<readonly string[]>;
}

type Place = Pick<TargetDocument, 'organization' | 'mount' | 'namespace' | 'owns'>;

export async function chooseOrganization(
  choosing: ChoosingTarget,
  started: TargetDocument,
  token: ChosenToken,
): Promise<Place> {
  const { flags, canAsk, usualName } = choosing;
  const mayList =
    canAsk && flags.organization === undefined && started.url !== 'embedded' && token.env !== undefined;
  const seen = mayList
    ? await choosing.listOrganizations(checkedTarget({ ...started, organization: 'unknown' }), token)
    : [];
  const usual = started.url === 'embedded' ? usualName : undefined;
  const question = {
    flag: '--organization',
    text: 'Name of the organization',
    choices: seen.map((value) => ({ value, label: value })),
    fallback: seen.length === 1 ? seen[0] : undefined,
    problem: (answer: string) =>
      /^[\w-]+$/.test(answer)
        ? undefined
        : 'the name of an organization has letters, digits, "-" and "_" only',
  };
  return { organization: await answerTo(question, flags.organization ?? usual, choosing) };
}

export async function chooseMount(
  choosing: ChoosingTarget,
  started: TargetDocument,
  { client, defaultMount }: Dialect,
): Promise<Place> {
  const { flags, host } = choosing;
  const isEmbedded = started.url === 'embedded';
  const set = client?.namespace === undefined ? '' : (host.env[client.namespace] ?? '');
  const namespace = await answerTo(
    {
      flag: '--namespace',
      text: 'Namespace, if the service has namespaces',
      fallback: set.trim(),
      problem: (answer) =>
        answer === '' ? undefined : problemIn({ ...started, namespace: answer }, 'namespace'),
    },
    flags.namespace ?? (isEmbedded ? '' : undefined),
    choosing,
  );
  const mount = await answerTo(
    {
      flag: '--mount',
      text: 'Mount of the authentication method, below "auth/"',
      fallback: defaultMount,
      problem: (answer) =>
        answer === '' ? 'write the name of a mount' : problemIn({ ...started, mount: answer }, 'mount'),
    },
    flags.mount ?? (isEmbedded ? defaultMount : undefined),
    choosing,
  );
  const owns = await answerTo(
    {
      flag: '--owns',
      text: 'Role names that this stack owns, such as payments-*, with commas between them',
      fallback: '*',
    },
    flags.owns.length > 0 ? flags.owns.join(',') : isEmbedded ? '*' : undefined,
    choosing,
  );
  const patterns = owns
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '');
  return {
    mount,
    ...(namespace === '' ? {} : { namespace }),
    ...(patterns.length === 0 || patterns.includes('*') ? {} : { owns: patterns }),
  };
}

// The rules are those of every stack file.

function problemsIn(document: TargetDocument) {
  return readTarget(JSON.parse(JSON.stringify(document)), { base: [], invalid: [], dialects });
}

/** What is wrong with one member, as a clause; undefined when it is valid. */
export function problemIn(document: TargetDocument, member: string): string | undefined {
  const found = problemsIn(document).problems.find(({ path }) => path[0] === member);
  return found && [found.message, found.fix].filter((part) => part !== undefined).join('; ');
}

/** @throws CommandStop when the flags contradict each other */
export function checkedTarget(document: TargetDocument): Target {
  const { target, problems } = problemsIn(document);
  const [problem] = problems;
  if (target !== undefined) return target;
  throw new CommandStop(
    'usage',
    [problem?.message, problem?.fix].filter((part) => part !== undefined).join('; '),
  );
}
