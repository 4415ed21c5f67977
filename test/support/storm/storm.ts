/**
 * One storm, all of it from one number: a random stack is applied in fair weather, another one in a storm, and then, the
 * storm being over, once more. What has to be true then is true, or the storm throws what is not.
 */
import { cp } from 'node:fs/promises';
import fc from 'fast-check';
import { type Ran, trueup } from '../captured-host.ts';
import { startFaultyProxy } from '../cli/faulty-proxy.ts';
import { type Deed, drift } from '../loop/arbitrary-drift.ts';
import { type StackDraft, stackDraft } from '../loop/arbitrary-stack.ts';
import { refusals } from '../loop/converge.ts';
import { expectLive } from '../loop/expect-live.ts';
import { habits } from '../loop/neighbours.ts';
import { showDraft, StackFolder } from '../loop/stack-folder.ts';
import type { Tenant } from '../loop/tenants.ts';
import { type Dice, diceOf } from './dice.ts';
import { foreignWrites, ledgerLies, strangersAsTheyAre, toldSecrets } from './invariants.ts';
import { gentleWriter, type OtherWriter, roughWriter } from './other-writer.ts';
import { openStormService } from './storm-service.ts';
import { stormyWeather } from './weather.ts';
import { makeFolder, removeFolder } from '../rig/temporary-folder.ts';

/** `converged`, or the code of a problem that a person has to solve. */
export type StormEnding = string;

export async function storm(seed: number): Promise<StormEnding> {
  const dice = diceOf(seed);
  const service = await openStormService(Math.floor(dice('habit') * habits.length));
  const wire = await startFaultyProxy(() => service.tenant.url);
  const folder = await StackFolder.make({ ...service.tenant, url: wire.url });
  const run = new Storm(seed, { dice, wire, folder, tenant: service.tenant });
  try {
    return await run.pass();
  } catch (error) {
    throw new Error(`${error instanceof Error ? error.message : String(error)}\n${run.log.join('\n')}`, {
      cause: error,
    });
  } finally {
    await wire.close();
    await service.close();
    await folder.remove();
  }
}

interface Place {
  readonly dice: Dice;
  readonly wire: Awaited<ReturnType<typeof startFaultyProxy>>;
  readonly folder: StackFolder;
  /** past the storm */
  readonly tenant: Tenant;
}

interface PlanOutput {
  readonly digest: string;
  readonly acknowledge: readonly string[];
  readonly problems: readonly { readonly code: string; readonly severity: string }[];
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
    if (first !== undefined) await this.#settle();
    const second = await this.#take(drafts.slice(6));
    if (second === undefined) return 'invalid';
    const isGentle = dice('gentle') < 0.5;
    const deeds = fc.sample(fc.noBias(drift), { seed: this.#seed, numRuns: 3 }).flat();
    const writer = isGentle ? gentleWriter(second, tenant, dice) : roughWriter(deeds, tenant, dice);
    this.#tell(first, second, isGentle ? [] : deeds);
    const strangers = await strangersAsTheyAre(tenant);
    wire.guardBy(stormyWeather(dice, writer));
    await this.#weather(isGentle);
    wire.guardBy(undefined);
    const ending = await this.#settle();
    await this.#check(ending, second, writer);
    const after = await strangersAsTheyAre(tenant);
    this.#insist(JSON.stringify(after) === JSON.stringify(strangers), 'a stranger was changed', [
      JSON.stringify(strangers),
      JSON.stringify(after),
    ]);
    await folder.takeLedger('kept');
    return ending;
  }

  #tell(first: StackDraft | undefined, second: StackDraft, deeds: readonly Deed[]): void {
    this.log.push(
      '===== in fair weather',
      first === undefined ? 'nothing' : showDraft(first),
      '===== in the storm',
      ...deeds.map((deed) => JSON.stringify(deed)),
      showDraft(second),
    );
  }

  /** The first of the drafts that is a valid stack, written; fair weather. */
  async #take(drafts: readonly StackDraft[]): Promise<StackDraft | undefined> {
    for (const draft of drafts) {
      await this.#place.folder.write(draft);
      const planned = await this.#run('plan', '--format', 'json');
      if (planned.code === 0) return draft;
    }
    return undefined;
  }

  /** Plans and applies while everything breaks, as often as a pipeline would be run again; perhaps twice at once. */
  async #weather(isGentle: boolean): Promise<void> {
    const { dice } = this.#place;
    const twin = !isGentle && dice('twin') < 0.3 ? await this.#clone() : undefined;
    for (let round = 1; round <= 2; round += 1) {
      const args = ['apply', ...(await this.#consent())];
      const runs = [this.#run(...args)];
      if (dice('same folder', round) < 0.3) runs.push(this.#run(...args));
      if (twin !== undefined) runs.push(this.#runIn(twin, args));
      for (const { code, out, err } of await Promise.all(runs))
        this.#insist(stormyCodes.includes(code), `exit code ${code} in a storm`, [out, err]);
    }
    if (twin !== undefined) removeFolder(twin);
  }

  /** Another checkout of the same stack, which shares no ledger and no lock with this one. */
  async #clone(): Promise<string> {
    const twin = makeFolder();
    await cp(this.#place.folder.directory, twin, { recursive: true });
    return twin;
  }

  /** What somebody who has read the plan would type; a plan that was not to be had is applied unseen. */
  async #consent(): Promise<string[]> {
    const { out } = await this.#run('plan', '--format', 'json');
    const plan = parsePlan(out);
    if (plan === undefined || plan.acknowledge.length === 0) return ['--yes'];
    return ['--approve', plan.digest, '--again', '--ack', plan.acknowledge.join(',')];
  }

  /** In fair weather one apply does it all, and leaves nothing to plan. */
  async #settle(): Promise<StormEnding> {
    const planned = await this.#run('plan', '--format', 'json');
    const problems = parsePlan(planned.out)?.problems.filter(({ severity }) => severity === 'error') ?? [];
    const [problem] = problems;
    if (problem !== undefined) {
      this.#insist(refusals.has(problem.code) || problem.code === 'unknown-reference', problem.code, [
        planned.out,
      ]);
      return problem.code;
    }
    const applied = await this.#run('apply', ...(await this.#consent()));
    this.#insist(applied.code === 0, `the apply after the storm ends with ${applied.code}`, [
      applied.out,
      applied.err,
    ]);
    const again = await this.#run('plan', '--exit-code');
    this.#insist(again.code === 0, `the plan after the storm ends with ${again.code}`, [
      applied.out,
      again.out,
    ]);
    return 'converged';
  }

  async #check(ending: StormEnding, draft: StackDraft, writer: OtherWriter): Promise<void> {
    const { wire, folder, tenant } = this.#place;
    const broken = [
      ...foreignWrites(wire.writes(), tenant),
      ...(await toldSecrets(this.#printed, folder.directory)),
    ];
    if (ending === 'converged') {
      await expectLive(draft, tenant);
      broken.push(...(await ledgerLies(folder.directory, draft, tenant)), ...(await writer.losses()));
    }
    this.#insist(
      broken.length === 0,
      broken.join('\n'),
      wire
        .writes()
        .map((write) => `${write.method} ${write.path} ${write.status ?? 'no answer'} ${write.text}`),
    );
  }

  async #run(...args: readonly string[]): Promise<Ran> {
    return this.#keep(args, await this.#place.folder.run(...args));
  }

  async #runIn(cwd: string, args: readonly string[]): Promise<Ran> {
    return this.#keep(args, await trueup(args, { cwd, env: this.#place.folder.env }));
  }

  #keep(args: readonly string[], ran: Ran): Ran {
    this.#printed.push(`$ trueup ${args.join(' ')}`, ran.out, ran.err);
    return ran;
  }

  #insist(holds: boolean, what: string, details: readonly string[]): void {
    if (!holds) throw new Error([what, ...details].join('\n'));
  }
}

function parsePlan(text: string): PlanOutput | undefined {
  try {
    return JSON.parse(text) as PlanOutput;
  } catch {
    return undefined;
  }
}
