/** Chooses the key that signs: the one that was named, that of git, or one of the agent or of the user's folder of keys. */
import { join, resolve } from 'node:path';
import { readRegularText } from '../../files/read-file.ts';
import { agentKeys, type SigningKey } from '../../approvals/ssh-keygen.ts';
import { namesOfKey } from '../../approvals/allowed-signers.ts';
import { type GitContext, runGit } from '../../ledger/git/git-command.ts';
import { SigningError } from '../../model/approval.ts';
import { quoted } from '../../model/quoted.ts';

/** In the order in which ssh would try them. */
const usualFiles = ['id_ed25519', 'id_ed25519_sk', 'id_ecdsa', 'id_ecdsa_sk', 'id_rsa'];

/** In bytes; a key has some kilobytes. */
const maxKey = 65_536;

/**
 * @param about.named the flag
 * @param about.allowed text of the allowed signers: a key that is in it comes first
 * @throws SigningError when there is none
 */
export async function chooseKey(
  git: GitContext,
  about: { readonly named: string | undefined; readonly cwd: string; readonly allowed: string },
): Promise<SigningKey> {
  const { named, cwd, allowed } = about;
  if (named !== undefined) {
    const file = resolve(cwd, named);
    if (!(await isKey(file))) throw new SigningError(`${quoted(named)} is not a file with an SSH key`);
    return { file };
  }
  const ofGit = await keyOfGit(git);
  if (ofGit !== undefined) return ofGit;
  const usual = [
    ...(await agentKeys(git.env)).map((publicKey) => ({ key: { publicKey }, publicKey })),
    ...(await filesIn(join(git.env['HOME'] ?? git.env['USERPROFILE'] ?? '/', '.ssh'))),
  ];
  const [first] = usual;
  const admitted = usual.find(({ publicKey }) => isIn(allowed, publicKey));
  const chosen = admitted ?? first;
  if (chosen === undefined)
    throw new SigningError(
      'there is no key to sign with: name one with --key, or make one with "ssh-keygen -t ed25519"',
    );
  return chosen.key;
}

function isIn(allowed: string, publicKey: string): boolean {
  const [, key = ''] = publicKey.split(' ');
  return key !== '' && namesOfKey(allowed, key).length > 0;
}

/** The key of git's own signatures. It may be one of GPG, which cannot sign approvals. */
async function keyOfGit(git: GitContext): Promise<SigningKey | undefined> {
  const read = async (...args: readonly string[]) => {
    const { code, out } = await runGit(['config', ...args, '--get', 'user.signingKey'], git);
    return code === 0 ? out.toString().trim() : '';
  };
  const value = await read();
  const publicKey = value.replace(/^key::/, '');
  if (/^(ssh|ecdsa|sk)-\S+ \S+/.test(publicKey)) return { publicKey };
  if (value === '') return undefined;
  const file = resolve(git.directory, await read('--type=path'));
  return (await isKey(file)) ? { file } : undefined;
}

async function filesIn(folder: string) {
  const found = await Promise.all(
    usualFiles.map(async (name) => {
      const file = join(folder, name);
      const publicKey = await readRegularText(`${file}.pub`, maxKey).catch(() => '');
      return (await isKey(file)) ? [{ key: { file }, publicKey }] : [];
    }),
  );
  return found.flat();
}

async function isKey(file: string): Promise<boolean> {
  const text = await readRegularText(file, maxKey).catch(() => '');
  return /^-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(text) || /^(ssh|ecdsa|sk)-\S+ [A-Za-z0-9+/=]+/.test(text);
}
