/**
 * One storm, all of it from one number: a random stack is applied in fair weather, another one in a storm, and then, the
 * storm being over, once more. What has to be true then is true, or the storm throws what is not.
 */
import fc from 'fast-check';
import type { Ran } from '../captured-host.ts';
import { startFaultyProxy } from '../cli/faulty-proxy.ts';
import { expectLive } from './expect-live.ts';
import { foreignWrites, ledgerErrors, printedSecrets, strangersOf } from './invariants.ts';
import { gentleWriter, roughWriter } from './other-writer.ts';
import { drift } from './random-actions.ts';
import { type StackDraft, stackDraft } from './random-stacks.ts';
import { consent, errorsIn, planIn, refusals, showDraft, shown, StackFolder } from './stack-folder.ts';
import { type Dice, diceOf, type OtherWriter, stormyWeather } from './weather.ts';
import { habits, startWorld, type Tenant } from './world.ts';

/** `converged`, or the code of a problem that a person has to solve. */
export type StormEnding = string;

export async function storm(seed: number): Promise<StormEnding> {
  const dice = diceOf(seed);
  const world = await startWorld({ storm: Math.floor(dice('habit') * habits.length) });
  const [tenant] = world.tenants;
  if (tenant === undefined) throw new Error('a world has the tenants that it was asked for');
  const wire = await startFaultyProxy(() => tenant.url);
  const folder = new StackFolder({ ...tenant, url: wire.url });
  const run = new Storm(seed, { dice, wire, folder, tenant });
  try {
    return await run.pass();
  } catch (error) {
    throw new Error(`${error instanceof Error ? error.message : String(error)}\n${run.log.join('\n')}`, {
      cause: error,
    });
  } finally {
    await wire.close();
    await world.close();
    folder.remove();
  }
}

interface Place {
  readonly dice: Dice;
  readonly wire: Awaited<ReturnType<typeof startFaultyProxy>>;
  readonly folder: StackFolder;
  /** past the storm */
  readonly tenant: Tenant;
}

/** Every way in which a command may end while nothing can be relied on. */
const stormyCodes: readonly number[] = [0, 1, 4, 5, 6, 7, 8, 9];

class Storm {
  readonly log: string[] = [];
  readonly #seed: number;
  readonly #place: Place;
  readonly #printed: string[] = [];

  constructor(seed: number, place: Place) {
    this.#seed = seed;
    this.#place = place;
  }

  async pass(): Promise<StormEnding> {
    const { dice, wire, folder, tenant } = this.#place;
    const drafts = fc.sample(fc.noBias(stackDraft), { seed: this.#seed, numRuns: 12 });
    const first = await this.#take(drafts.slice(0, 6));
    if (first !== undefined) await this.#finish();
    const second = await this.#take(drafts.slice(6));
    if (second === undefined) return 'invalid';
    const isGentle = dice('gentle') < 0.5;
    const actions = fc.sample(fc.noBias(drift), { seed: this.#seed, numRuns: 3 }).flat();
    const writer = isGentle ? gentleWriter(second, tenant, dice) : roughWriter(actions, tenant, dice);
    this.log.push(
      '===== in fair weather',
      first === undefined ? 'nothing' : showDraft(first),
      '===== in the storm',
      ...(isGentle ? [] : actions).map((action) => JSON.stringify(action)),
      showDraft(second),
    );
    const strangers = JSON.stringify(await strangersOf(tenant));
    wire.guardBy(stormyWeather(dice, writer));
    await this.#weather(isGentle);
    wire.guardBy(undefined);
    const ending = await this.#finish();
    await this.#check(ending, second, writer);
    const after = JSON.stringify(await strangersOf(tenant));
    insist(after === strangers, 'a stranger was changed', [strangers, after]);
    await folder.takeLedger('kept');
    return ending;
  }

  /** The first of the drafts that is a valid stack, written; fair weather. */
  async #take(drafts: readonly StackDraft[]): Promise<StackDraft | undefined> {
    for (const draft of drafts) {
      this.#place.folder.write(draft);
      const planned = await this.#run('plan', '--format', 'json');
      if (planned.code === 0) return draft;
    }
    return undefined;
  }

  /** Plans and applies while everything breaks, as often as a pipeline would be run again; perhaps twice at once. */
  async #weather(isGentle: boolean): Promise<void> {
    const { dice, folder } = this.#place;
    const twin = !isGentle && dice('twin') < 0.3 ? folder.clone() : undefined;
    for (let round = 1; round <= 2; round += 1) {
      const args = ['apply', ...consent(planIn(await this.#run('plan', '--format', 'json')))];
      const runs = [this.#run(...args)];
      if (dice('same folder', round) < 0.3) runs.push(this.#run(...args));
      if (twin !== undefined) runs.push(this.#runIn(twin, args));
      for (const ran of await Promise.all(runs))
        insist(stormyCodes.includes(ran.code), 'an exit code that no storm explains', [shown(ran)]);
    }
    twin?.remove();
  }

  /** In fair weather one apply does it all, and leaves nothing to plan. */
  async #finish(): Promise<StormEnding> {
    const planned = await this.#run('plan', '--format', 'json');
    const plan = planIn(planned);
    const [problem] = errorsIn(plan);
    if (problem !== undefined) {
      const { code } = problem;
      insist(refusals.has(code) || code === 'unknown-reference', code, [planned.out]);
      return code;
    }
    const applied = await this.#run('apply', ...consent(plan));
    insist(applied.code === 0, 'the apply after the storm', [shown(applied)]);
    const again = await this.#run('plan', '--exit-code');
    insist(again.code === 0, 'the plan after the storm', [applied.out, shown(again)]);
    return 'converged';
  }

  async #check(ending: StormEnding, draft: StackDraft, writer: OtherWriter): Promise<void> {
    const { wire, folder, tenant } = this.#place;
    const broken = [
      ...foreignWrites(wire.writes(), tenant),
      ...(await printedSecrets(this.#printed, folder.directory, tenant)),
    ];
    if (ending === 'converged') {
      await expectLive(draft, tenant);
      broken.push(...(await ledgerErrors(folder.directory, draft, tenant)), ...(await writer.losses()));
    }
    const writes = wire.writes();
    insist(
      broken.length === 0,
      broken.join('\n'),
      writes.map(({ method, path, status = 'no answer', text }) => `${method} ${path} ${status} ${text}`),
    );
  }

  #run(...args: readonly string[]): Promise<Ran> {
    return this.#runIn(this.#place.folder, args);
  }

  async #runIn(folder: StackFolder, args: readonly string[]): Promise<Ran> {
    const ran = await folder.run(...args);
    this.#printed.push(`$ trueup ${args.join(' ')}`, ran.out, ran.err);
    return ran;
  }
}

function insist(holds: boolean, what: string, details: readonly string[]): void {
  if (!holds) throw new Error([what, ...details].join('\n'));
}
