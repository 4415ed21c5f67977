/** The values that a flag or an argument takes: fixed ones, and names of the stack, which are read from its manifests offline. */
import { dialects } from '../../api/dialects.ts';
import { readManifests } from '../../manifest/read-manifests.ts';
import { standardInput } from '../../manifest/files/find-stack.ts';
import { formatAddress } from '../../model/address.ts';
import { guardIds } from '../../model/guard.ts';
import type { Candidate } from '../../run/command-options.ts';
import type { CliHost } from '../../run/host.ts';
import { selectorPrefixes } from '../../run/selection/selectors.ts';

/** What the shell completes by itself, where there is no other value. */
type Files = 'files' | 'directories';

interface Wanted {
  /** `--target`; absent for an argument */
  readonly flag?: string;
  /** of the value or argument in the help, without brackets: `file` */
  readonly name: string;
  readonly choices?: readonly string[] | undefined;
  /** what is typed of the value */
  readonly current: string;
  /** `role check` */
  readonly command: string;
  /** the arguments before it, of which one may be the path of the stack */
  readonly given: readonly string[];
}

export interface Values {
  readonly candidates: readonly Candidate[];
  readonly files?: Files | undefined;
}

type Host = Pick<CliHost, 'cwd' | 'kinds' | 'machine'>;

type Source = (wanted: Wanted, host: Host) => Values | Promise<Values>;

const files: Source = () => ({ candidates: [], files: 'files' });
const directories: Source = () => ({ candidates: [], files: 'directories' });
const none: Source = () => ({ candidates: [] });

const names = (values: Iterable<string>): Source => {
  const candidates = [...values].map((value) => ({ value }));
  return () => ({ candidates });
};

/** By the name of the value in the help; it means the same in every command. */
const byName: Readonly<Record<string, Source>> = {
  path: files,
  stack: files,
  plan: files,
  other: files,
  files,
  file: files,
  archive: files,
  place: names(['git', 'postgres', 'local']),
  directory: directories,
  folder: directories,
  address: async ({ given }, host) => ({
    candidates: (await readStack(given, host)).addresses,
    files: 'files',
  }),
  target: async ({ given }, host) => ({ candidates: (await readStack(given, host)).targets }),
  selector: async ({ current, given }, host) => {
    const mark = current.startsWith('!') ? '!' : '';
    const { addresses } = await readStack(given, host);
    const prefixes = selectorPrefixes.map((value) => ({ value }));
    return { candidates: [...addresses, ...prefixes].map(({ value }) => ({ value: mark + value })) };
  },
  kind: (_, { kinds }) => ({
    candidates: [...kinds.values()].map(({ name, summary }) => ({ value: name, about: summary })),
  }),
  guards: ({ current }) => {
    // Several are divided by commas.
    const before = current.slice(0, current.lastIndexOf(',') + 1);
    const taken = before.split(',');
    const left = guardIds.filter((id) => !taken.includes(id));
    return { candidates: left.map((id) => ({ value: before + id })) };
  },
};

/** Where the name of the value does not say it: by command and flag, or by flag, or by command and argument. */
const bySpecial: Readonly<Record<string, Source>> = {
  '--target': (wanted, host) => byName['target']?.(wanted, host) ?? { candidates: [] },
  '--dialect': names([...dialects.keys()]),
  '--edition': names(['all', 'hosted', 'self-hosted']),
  'role check --from': none,
  'accept --field': none,
  // What a new stack is to have.
  'init --target': none,
  'init --url': none,
  'init --namespace': none,
  'role check name': async ({ given }, host) => ({ candidates: (await readStack(given, host)).roles }),
  'history show id': names(['latest']),
  'explain name': async ({ given }, host) => ({ candidates: (await readStack(given, host)).addresses }),
};

export async function valuesFor(wanted: Wanted, host: Host): Promise<Values> {
  const { flag, name, choices, command } = wanted;
  if (choices !== undefined) return { candidates: choices.map((value) => ({ value })) };
  const own = bySpecial[`${command} ${flag ?? name}`];
  const source = own ?? (flag === undefined ? undefined : bySpecial[flag]) ?? byName[name] ?? none;
  return source(wanted, host);
}

interface StackNames {
  readonly addresses: readonly Candidate[];
  readonly targets: readonly Candidate[];
  readonly roles: readonly Candidate[];
}

/** Reads only files, and never standard input. Invalid manifests have addresses, too. */
async function readStack(given: readonly string[], { cwd, kinds, machine }: Host): Promise<StackNames> {
  const isPath = (word: string) => word !== standardInput && !kinds.has(word.split('/', 1)[0] ?? '');
  for (const path of [given.findLast(isPath), undefined]) {
    const about = { ...(path === undefined ? {} : { path }), cwd, userId: machine().userId };
    const { stack, entries } = await readManifests({ ...about, kinds, dialects });
    if (stack === undefined && path !== undefined) continue;
    const isRole = (kind: string) => {
      const ownership = kinds.get(kind)?.ownership;
      return ownership?.by === 'ledger' && ownership.named;
    };
    const roles = entries.filter(({ address }) => isRole(address.kind));
    return {
      addresses: safe(entries.map(({ address }) => formatAddress(address))),
      targets: safe(stack?.targets.map(({ name }) => name) ?? []),
      roles: safe(roles.map(({ address }) => address.name)),
    };
  }
  return { addresses: [], targets: [], roles: [] };
}

/** A shell inserts a name as it is: one that could mean something to it is left out. */
function safe(texts: readonly string[]): Candidate[] {
  return texts.filter((text) => /^[\w.,:=@%+/-]+$/.test(text)).map((value) => ({ value }));
}
