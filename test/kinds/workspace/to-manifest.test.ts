/** A live workspace as a manifest. */
import { describe, expect, it } from 'vitest';
import { toManifest as say } from '../../../src/kinds/workspace/to-manifest.ts';
import type { LiveResource, Spec } from '../../../src/model/resource.ts';

const live = (spec: Spec, facts: LiveResource['facts'] = {}): LiveResource => ({
  address: { kind: 'Workspace', target: 'acme', name: 'app' },
  spec,
  evidence: {},
  facts,
});

describe('A manifest of a live workspace', () => {
  it('leaves out overwrites that follow from the mode and the pool', () => {
    const own = { executionMode: true, agentPool: true };
    const pool = { executionMode: 'agent', agentPoolId: 'apool-1' };
    expect(say(live({ ...pool, settingOverwrites: own }), {}).spec).toEqual(pool);
    const inherited = { executionMode: null, agentPoolId: null };
    const none = { executionMode: false, agentPool: false };
    expect(say(live({ ...inherited, settingOverwrites: none }), {}).spec).toEqual(inherited);
  });

  it('declares that the pool is inherited beside its own mode', () => {
    const spec = { executionMode: 'agent', agentPoolId: null };
    const overwrites = { executionMode: true, agentPool: false };
    expect(say(live({ ...spec, settingOverwrites: overwrites }), {}).spec).toEqual({
      ...spec,
      settingOverwrites: { agentPool: false },
    });
  });

  it('keeps overwrites that the defaults of the stack contain, because the defaults would win', () => {
    const overwrites = { executionMode: true, agentPool: true };
    const spec = { executionMode: 'agent', agentPoolId: 'apool-1', settingOverwrites: overwrites };
    expect(say(live(spec), { settingOverwrites: { agentPool: false } }).spec).toEqual(spec);
  });

  it('has the destroy duration, or the time without a duration, or nothing if inherited', () => {
    const spec = { autoDestroyAt: '2031-01-31T08:00:00.000Z', autoDestroyActivityDuration: '14d' };
    expect(say(live(spec), {}).spec).toEqual({ autoDestroyActivityDuration: '14d' });
    const time = { ...spec, autoDestroyActivityDuration: null };
    expect(say(live(time), {}).spec).toEqual({ autoDestroyAt: spec.autoDestroyAt });
    expect(say(live(spec, { inheritsAutoDestroy: true }), {}).spec).toEqual({});
  });

  it('has a remark about a lock, and the lock itself only if the defaults have one', () => {
    const locked = live({ lock: { reason: 'mine' } }, { locked: true, lockedReason: 'mine' });
    expect(say(locked, {})).toEqual({
      spec: {},
      remarks: ['It was locked when this was written ("mine"); "lock: {}" would keep it locked.'],
    });
    expect(say(locked, { lock: {} }).spec).toEqual({ lock: {} });
    expect(say(live({ lock: null }, { locked: false }), { lock: {} })).toEqual({
      spec: { lock: null },
      remarks: [],
    });
  });
});
