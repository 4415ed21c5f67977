/** CI jobs that apply commits of one repository, each from its own clone, with one ledger. */
import { symlinkSync } from 'node:fs';
import { cp, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { localLedger } from '../../../src/ledger/local-ledger.ts';
import type { StackStore } from '../../../src/model/ledger.ts';
import type { PlanJson } from '../../../src/report/json/plan-schema.ts';
import { trueup } from '../captured-host.ts';
import { type Bench, openBench, secrets, type StackOptions } from '../cli/bench.ts';
import { type CommitScene, openScene } from './commit-scene.ts';

export interface Jobs {
  readonly bench: Bench;
  readonly scene: CommitScene;
  /** commits manifests of the stack, which is in the folder `pay`. @returns the commit */
  declare(...documents: readonly object[]): string;
  /** a CI job in its own shallow clone; all jobs share one ledger, as on a volume that each mounts */
  job(commit: string): Job;
  readonly store: StackStore;
}

export interface Job {
  readonly directory: string;
  run(args: readonly string[], code: number, stdin?: string): Promise<{ out: string; err: string }>;
  plan(): Promise<PlanJson>;
}

export async function openJobs(options: StackOptions = {}): Promise<Jobs> {
  const bench = await openBench();
  const scene = openScene();
  const model = await bench.checkout(options);
  const volume = join(model.directory, 'volume');
  await mkdir(volume);
  await mkdir(join(scene.author, 'pay'));
  await cp(join(model.directory, 'trueup.yaml'), join(scene.author, 'pay', 'trueup.yaml'));
  const job = (commit: string): Job => {
    const directory = join(scene.shallowAt(commit), 'pay');
    symlinkSync(volume, join(directory, '.trueup'));
    const run = async (args: readonly string[], code: number, stdin?: string) => {
      const ran = await trueup(args, {
        cwd: directory,
        env: secrets,
        ...(stdin === undefined ? {} : { stdin }),
      });
      expect(ran, ran.out + ran.err).toMatchObject({ code });
      return ran;
    };
    return { directory, run, plan: async () => JSON.parse((await run(['plan', '--format', 'json'], 0)).out) };
  };
  return {
    bench,
    scene,
    job,
    store: localLedger(join(volume, 'payments.ledger.json'), 'payments'),
    declare: (...documents) =>
      scene.commit({ 'pay/manifests/all.yaml': documents.map((one) => JSON.stringify(one)).join('\n---\n') }),
  };
}
