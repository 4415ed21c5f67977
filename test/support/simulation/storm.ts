/**
 * One storm, which depends only on its seed: a random stack is applied without faults, another one with faults, and then once more
 * without. Then all invariants must hold. @throws for those that do not
 */
import fc from 'fast-check';
import type { CommandResult } from '../captured-host.ts';
import { startFaultyProxy } from '../cli/faulty-proxy.ts';
import { expectLive } from './expect-live.ts';
import { foreignWrites, ledgerErrors, printedSecrets, strangersOf } from './invariants.ts';
import { gentleWriter, roughWriter } from './other-writer.ts';
import { drift } from './random-actions.ts';
import { type StackDraft, stackDraft } from './random-stacks.ts';
import { consent, errorsIn, planIn, refusals, showDraft, shown, StackFolder } from './stack-folder.ts';
import { type Dice, diceOf, type OtherWriter, stormyWeather } from './weather.ts';
import { organizationSettings, startWorld, type Tenant } from './world.ts';

/** `converged`, or the code of a problem that a user has to fix. */
export type StormEnding = string;

export async function storm(seed: number): Promise<StormEnding> {
  const dice = diceOf(seed);
  const world = await startWorld({ storm: Math.floor(dice('habit') * organizationSettings.length) });
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
  /** without the proxy that causes faults */
  readonly tenant: Tenant;
}

/** The exit codes that are allowed during faults. */
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
    wire.setHandler(stormyWeather(dice, writer));
    await this.#weather(isGentle);
    wire.setHandler(undefined);
    const ending = await this.#finish();
    await this.#check(ending, second, writer);
    const after = JSON.stringify(await strangersOf(tenant));
    assertHolds(after === strangers, 'a stranger was changed', [strangers, after]);
    await folder.takeLedger('kept');
    return ending;
  }

  /** Writes the first draft that is a valid stack; undefined if there is none. */
  async #take(drafts: readonly StackDraft[]): Promise<StackDraft | undefined> {
    for (const draft of drafts) {
      this.#place.folder.write(draft);
      const planned = await this.#run('plan', '--format', 'json');
      if (planned.code === 0) return draft;
    }
    return undefined;
  }

  /** Plans and applies during faults, twice like a pipeline that is run again, and sometimes in parallel. */
  async #weather(isGentle: boolean): Promise<void> {
    const { dice, folder } = this.#place;
    const twin = !isGentle && dice('twin') < 0.3 ? folder.clone() : undefined;
    for (let round = 1; round <= 2; round += 1) {
      const args = ['apply', ...consent(planIn(await this.#run('plan', '--format', 'json')))];
      const runs = [this.#run(...args)];
      if (dice('same folder', round) < 0.3) runs.push(this.#run(...args));
      if (twin !== undefined) runs.push(this.#runIn(twin, args));
      for (const ran of await Promise.all(runs))
        assertHolds(stormyCodes.includes(ran.code), 'an exit code that no storm explains', [shown(ran)]);
    }
    twin?.remove();
  }

  /** Without faults, one apply must leave nothing to plan. */
  async #finish(): Promise<StormEnding> {
    const planned = await this.#run('plan', '--format', 'json');
    const plan = planIn(planned);
    const [problem] = errorsIn(plan);
    if (problem !== undefined) {
      const { code } = problem;
      assertHolds(refusals.has(code) || code === 'unknown-reference', code, [planned.out]);
      return code;
    }
    const applied = await this.#run('apply', ...consent(plan));
    assertHolds(applied.code === 0, 'the apply after the storm', [shown(applied)]);
    const again = await this.#run('plan', '--exit-code');
    assertHolds(again.code === 0, 'the plan after the storm', [applied.out, shown(again)]);
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
    assertHolds(
      broken.length === 0,
      broken.join('\n'),
      writes.map(({ method, path, status = 'no answer', text }) => `${method} ${path} ${status} ${text}`),
    );
  }

  #run(...args: readonly string[]): Promise<CommandResult> {
    return this.#runIn(this.#place.folder, args);
  }

  async #runIn(folder: StackFolder, args: readonly string[]): Promise<CommandResult> {
    const ran = await folder.run(...args);
    this.#printed.push(`$ trueup ${args.join(' ')}`, ran.out, ran.err);
    return ran;
  }
}

function assertHolds(holds: boolean, what: string, details: readonly string[]): void {
  if (!holds) throw new Error([what, ...details].join('\n'));
}
