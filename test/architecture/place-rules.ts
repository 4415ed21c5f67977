/** Modules, packages and globals that only some places of the program may use. */
import type { Rule } from './rule.ts';
import { codeOf, importsOf, isBelow, sources } from './source-tree.ts';
import { onePerFolder, withImport } from './try-import.ts';

/** Something that only a few places may import: modules of Node, packages, and the embedded service. */
interface Home {
  readonly what: string;
  readonly homes: readonly string[];
  readonly because: string;
}

const homes: readonly Home[] = [
  {
    what: 'src/server',
    homes: ['src/server', 'src/run/embedded-service.ts', 'src/commands/serve.ts'],
    because:
      'the wire is the only contract between the reconciler and the embedded service: it is started in these places and known nowhere else',
  },
  {
    what: 'node:fs',
    homes: [
      ...[
        'src/files',
        'src/manifest',
        'src/ledger',
        'src/audit-trail/sqlite-archive.ts',
        'src/approvals/ssh-keygen.ts',
        'src/commands',
        'src/run',
      ],
      'src/server',
    ],
    because:
      'files are read for manifests, ledgers, secrets and archives, and written for programs that take no other input; all other code works on values',
  },
  {
    what: 'node:process',
    // The database and the exclusive file silence a warning while a module of Node loads, which only the process can do.
    // The git command ends the processes that it has started, with their children.
    homes: [
      ...['src/run/host.ts', 'src/main.ts', 'src/server/kernel/database.ts', 'src/ledger/exclusive-file.ts'],
      'src/ledger/git/git-command.ts',
      // It reads how much processor time the rules have used.
      'src/policies/run-worker.ts',
    ],
    because: 'what the process knows reaches the program through the host that main.ts makes',
  },
  {
    what: 'node:sqlite',
    // The lock of a local ledger is the first exception: no other lock that Node offers ends with its process, and only
    // then. The archive of the audit trail, which loads the module in the same way, is the second and last.
    homes: ['src/server', 'src/ledger/exclusive-file.ts'],
    because:
      'the database belongs to the embedded service; the reconciler has files and the wire, an empty database to lock, and an archive of events',
  },
  {
    what: 'fastify',
    homes: ['src/server', 'src/commands/fleet'],
    because: 'only the embedded service and the workers of fleets serve',
  },
  {
    what: '@fastify',
    homes: ['src/commands/fleet/console'],
    because: 'only the console of a fleet has users who log in with a browser',
  },
  {
    what: 'prom-client',
    homes: ['src/commands/fleet/console/metrics.ts'],
    because: 'only a process that keeps running has metrics',
  },
  {
    what: 'jose',
    homes: [
      ...['src/commands/role-check', 'src/server/cluster-auth/public-keys.ts'],
      ...['src/commands/fleet/console/issuer.ts', 'src/commands/fleet/console/sealed-texts.ts'],
    ],
    because:
      'JWTs are checked where users log in: by the service, by the command that predicts a login, and by the console of a fleet',
  },
  {
    what: 'undici',
    homes: ['src/api'],
    because: 'requests go through the connection of their target, which limits, retries and redacts them',
  },
  {
    what: 'node:http',
    homes: ['src/server'],
    because: 'requests go through src/api, which uses undici; only the embedded service serves',
  },
  {
    what: 'node:child_process',
    homes: [
      'src/ledger/git/git-command.ts',
      'src/approvals/ssh-keygen.ts',
      'src/commands/fleet/stack-process.ts',
    ],
    because:
      'trueup starts only git, for refs, ssh-keygen, for signatures, and itself, for each stack of a fleet: all else are calls of a plan',
  },
  {
    what: 'pg',
    homes: ['src/ledger/postgres-connection.ts'],
    because: 'only the connection uses the package, and loads it only for a stack that needs it',
  },
  {
    what: 'pg',
    homes: ['src/ledger'],
    because: 'a ledger and an archive may live in a database; nothing else does',
  },
  {
    what: 'commander',
    homes: ['src/command-line.ts', 'src/commands', 'src/run/command-options.ts'],
    because: 'only the command line and commands know flags',
  },
  {
    what: 'node:worker_threads',
    homes: ['src/policies/run-worker.ts', 'src/policies/evaluate-rules.ts'],
    because: 'only rules of users need a thread that can be ended; everything else ends by itself',
  },
  {
    what: '@bufbuild',
    homes: ['src/policies/evaluate-rules.ts', 'src/policies/check-expression.ts'],
    because: 'the language of rules is loaded only in their thread, and only for a stack with rules',
  },
  {
    what: 'node:readline',
    homes: ['src/run/question.ts'],
    because: 'only the process can ask a person, and only on a terminal',
  },
];

function homeRule({ what, homes: places, because }: Home): Rule {
  const isIt = (target: string) => isBelow(target, what);
  const isHome = (path: string) => places.some((place) => isBelow(path, place));
  return {
    title: `${what} is imported ${places.length === 0 ? 'nowhere' : `only in ${places.join(', ')}`}`,
    because,
    violations: (tree) =>
      sources(tree)
        .filter((path) => !isHome(path))
        .flatMap((path) =>
          importsOf(tree, path)
            .filter(isIt)
            .map((target) => `${path} imports ${target}`),
        ),
    breakages: (tree) => {
      const targets = what.startsWith('src/') ? sources(tree, what).slice(0, 2) : [what, `${what}/promises`];
      const strangers = onePerFolder(sources(tree)).filter((path) => !isHome(path));
      return targets.flatMap((target) => strangers.map((path) => withImport(tree, path, target)));
    },
  };
}

/** A name that code may use only in a few places. */
interface Word {
  readonly title: string;
  readonly pattern: RegExp;
  readonly where: (path: string) => boolean;
  readonly because: string;
  readonly broken: readonly string[];
}

const pureFloors = ['src/model', 'src/plan', 'src/report', 'src/kinds'];

const words: readonly Word[] = [
  {
    title: 'the process is used only in src/run/host.ts and src/main.ts',
    pattern: /(?<![\w.-])process\s*(?:\?\.|[.[;,)}])/,
    where: (path) =>
      ![
        ...[
          'src/run/host.ts',
          'src/main.ts',
          'src/server/kernel/database.ts',
          'src/ledger/exclusive-file.ts',
        ],
        // It ends the processes that it has started, with their children.
        'src/ledger/git/git-command.ts',
      ].some((place) => isBelow(path, place)),
    because:
      'what the process knows reaches the program through the host that main.ts makes; tests make their own',
    broken: ['const code = process.exitCode;', "process['exit'](1);", 'const { env } = process;'],
  },
  {
    title: 'the console is used only in src/main.ts',
    pattern: /(?<![\w.-])console\s*(?:\?\.|[.[;,)}])/,
    where: (path) => path !== 'src/main.ts',
    because: 'floors return values and texts; commands decide where they are printed',
    broken: ['console.log(1);', 'const { log } = console;'],
  },
  {
    title: 'model, plan, report and kinds use neither the clock nor random numbers',
    pattern:
      /\bDate\.now\b|\bnew Date\(\s*\)|\bMath\.random\b|\bset(?:Timeout|Interval|Immediate)\b|\bperformance\.now\b|\bfetch\(/,
    where: (path) => pureFloors.some((place) => isBelow(path, place)),
    because: 'the same input must give the same plan on every machine and at any time',
    broken: ['const now = Date.now();', 'const now = new Date();', 'setTimeout(() => {}, 1);'],
  },
  {
    title: 'only src/policies/exemptions.ts decides whether an exemption is in force',
    pattern:
      /\buntil\)?\s*[<>]=?(?!\s*=)|[<>]=?\s*(?:\w+\??\.)*until\b|(?:Date\.parse|new Date)\(\s*(?:\w+\??\.)*until\b/,
    where: (path) =>
      [
        'src/policies',
        'src/run',
        'src/commands/policy.ts',
        'src/commands/policy-replay.ts',
        'src/report',
        'src/plan',
      ].some((place) => isBelow(path, place)) &&
      !['src/policies/exemptions.ts', 'src/run/trail-events.ts'].includes(path),
    because: 'if two places decided it, a plan could pass that an apply refuses, or the other way round',
    broken: [
      'const isOver = Date.parse(exemption.until) < 5;',
      'const isOver = (until: string, now: string) => until <= now;',
      'const isOpen = (now: string, one: { until: string }) => now < one.until;',
    ],
  },
  {
    title: 'commands get the clock, random numbers and the machine from their host',
    pattern:
      /\bDate\.now\b|\bnew Date\(\s*\)|\bMath\.random\b|\brandom(?:UUID|Bytes)\b|\bhostname\(|\bprocess\.(?:env|cwd|pid|platform|kill|argv)\b|\bperformance\.now\b/,
    where: (path) =>
      ['src/command-line.ts', 'src/commands', 'src/run'].some((place) => isBelow(path, place)) &&
      path !== 'src/run/host.ts',
    because: 'the host is everything that a command may know of the outside, so that a test can replace it',
    broken: ['const now = Date.now();', 'const id = randomUUID();', 'const { pid } = { pid: process.pid };'],
  },
];

function wordRule({ title, pattern, where, because, broken }: Word): Rule {
  return {
    title,
    because,
    violations: (tree) =>
      sources(tree)
        .filter(where)
        .flatMap((path) => {
          const found = pattern.exec(codeOf(tree.get(path) ?? ''));
          return found === null ? [] : [`${path} uses ${found[0]}`];
        }),
    breakages: (tree) =>
      onePerFolder(sources(tree).filter(where)).flatMap((path) =>
        broken.map((line) => ({ [path]: `${tree.get(path)}\n${line}\n` })),
      ),
  };
}

export const placeRules: readonly Rule[] = [...homes.map(homeRule), ...words.map(wordRule)];
