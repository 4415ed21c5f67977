/**
 * What a plan without changes costs on many workspaces: requests against the formula for terraform (wire/workspaces 3:
 * 2 + 2N), and the time with bulk tag bindings against the fallback that asks for them one by one.
 * `node bench/plan-1000.ts [workspaces] [rounds]`. Client and service share this process, so times are upper bounds.
 */
import {
  type CountedStack,
  names,
  openCountedStack,
  owned,
  workspace,
} from '../test/support/scale/counted-stack.ts';
import { withoutInclude } from '../test/support/scale/without-include.ts';
import { printTimes, sideBySide } from './side-by-side.ts';

const [count = 1000, rounds = 5] = process.argv.slice(2).map(Number);

async function open(through?: typeof withoutInclude): Promise<CountedStack> {
  const all = names('ws', count);
  const stack = await openCountedStack({
    organization: { workspaces: all.map((name) => ({ ...owned(name) })) },
    ...(through === undefined ? {} : { through }),
  });
  await stack.declare(all.map((name) => workspace(name, { autoApply: false, tags: {} })));
  return stack;
}

async function plan(stack: CountedStack): Promise<number> {
  const { code, err, requests } = await stack.run('plan', '--exit-code');
  if (code !== 0) throw new Error(`the plan is not empty: exit code ${code}\n${err}`);
  return Object.values(requests).reduce((sum, one) => sum + one, 0);
}

/** Seconds that so many requests take at least. */
function floor(requests: number, perSecond: number): string {
  return `${(requests / perSecond).toFixed(1)} s`;
}

const bulk = await open();
const oneByOne = await open(withoutInclude);
try {
  const [few, many] = [await plan(bulk), await plan(oneByOne)];
  const terraform = 2 + 2 * count;
  console.log(`a plan of ${count} workspaces without changes, in requests:`);
  console.log(`trueup: ${few} (at 30 a second no less than ${floor(few, 30)})`);
  console.log(
    `trueup, service without the include: ${many}, ${(many / few).toFixed(0)} times as many (${floor(many, 30)})`,
  );
  console.log(
    `terraform by its formula 2 + 2N: ${terraform}, ${(terraform / few).toFixed(0)} times as many (at its 19.8 a second ${floor(terraform, 19.8)})`,
  );
  console.log(`\nwall time without a rate limit, ${rounds} rounds in turns:`);
  const timed = await sideBySide(
    {
      'with the include': async () => void (await plan(bulk)),
      'one request a workspace': async () => void (await plan(oneByOne)),
    },
    rounds,
  );
  printTimes(timed);
} finally {
  await bulk.close();
  await oneByOne.close();
}
