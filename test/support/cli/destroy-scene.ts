/** A stack with one workspace in an organization whose projects have durations, for tests of automatic destroys. */
import { trueup } from '../captured-host.ts';
import { openBench } from './bench.ts';
import { workspace } from './documents.ts';

export const soon = '2031-01-31T08:00:00.000Z';
export const sooner = '2031-01-30T08:00:00.000Z';
export const past = '2020-01-31T08:00:00.000Z';

const projects = [
  { name: 'plain', id: 'prj-plain' },
  { name: 'other', id: 'prj-other' },
  { name: 'week', id: 'prj-week', 'auto-destroy-activity-duration': '7d' },
  {
    name: 'sandbox',
    id: 'prj-sandbox',
    'auto-destroy-activity-duration': '1d',
    'default-execution-mode': 'local',
  },
] as const;

interface Scene {
  readonly dialect?: string;
  /** the spec of the workspace at the start of the test */
  readonly begin?: object;
  readonly allow?: readonly string[];
}

export async function openScene({ dialect = 'neutral', begin, allow = [] }: Scene = {}) {
  const bench = await openBench({ dialects: [dialect], organization: { projects: [...projects] } });
  const place = (guards: object) => bench.checkout({ workspaces: { dialect }, spec: { guards } });
  const stack = await place({ allow });
  if (begin !== undefined) {
    await stack.declare(workspace('app', begin));
    const { digest, acknowledge = [] } = await stack.plan();
    const ack = acknowledge.length === 0 ? [] : ['--ack', acknowledge.join(',')];
    await stack.run(['apply', '--approve', digest, ...ack], 0);
  }
  const guardsOf = async () => {
    const { guards } = await stack.plan();
    return guards.map(({ id, effect, concerns }) => [id, effect, concerns.flatMap(({ says }) => says)]);
  };
  const live = async () => {
    const attributes = await bench.byHand.attributes(await bench.idOf('app'));
    return [attributes['auto-destroy-at'], attributes['auto-destroy-activity-duration']];
  };
  const at = (time: string) => (args: readonly string[]) =>
    trueup(args, { cwd: stack.directory, env: stack.env, now: () => Date.parse(time) });
  return { bench, stack, guardsOf, live, at };
}

export const blocked = (...messages: string[]) => [['scheduled-destroy', 'blocks', messages]];
