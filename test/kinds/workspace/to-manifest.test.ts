/** A live workspace as a manifest would say it. */
import { describe, expect, it } from 'vitest';
import { toManifest as say } from '../../../src/kinds/workspace/to-manifest.ts';
import type { LiveResource, Spec } from '../../../src/model/resource.ts';

const live = (spec: Spec, facts: LiveResource['facts'] = {}): LiveResource => ({
  address: { kind: 'Workspace', target: 'acme', name: 'app' },
  spec,
  evidence: {},
  facts,
});

describe('what a manifest says of', () => {
  it('inherited settings follows from the mode and the pool', () => {
    const own = { executionMode: true, agentPool: true };
    const pool = { executionMode: 'agent', agentPoolId: 'apool-1' };
    expect(say(live({ ...pool, settingOverwrites: own }), {}).spec).toEqual(pool);
    const inherited = { executionMode: null, agentPoolId: null };
    const none = { executionMode: false, agentPool: false };
    expect(say(live({ ...inherited, settingOverwrites: none }), {}).spec).toEqual(inherited);
  });

  it('an inherited pool of an own mode has to be said', () => {
    const spec = { executionMode: 'agent', agentPoolId: null };
    const overwrites = { executionMode: true, agentPool: false };
    expect(say(live({ ...spec, settingOverwrites: overwrites }), {}).spec).toEqual({
      ...spec,
      settingOverwrites: { agentPool: false },
    });
  });

  it('what the defaults of the stack mention stays, or they would win', () => {
    const overwrites = { executionMode: true, agentPool: true };
    const spec = { executionMode: 'agent', agentPoolId: 'apool-1', settingOverwrites: overwrites };
    expect(say(live(spec), { settingOverwrites: { agentPool: false } }).spec).toEqual(spec);
  });

  it('a destroy schedule is the duration, or the time where there is none, or nothing where it is inherited', () => {
    const spec = { autoDestroyAt: '2031-01-31T08:00:00.000Z', autoDestroyActivityDuration: '14d' };
    expect(say(live(spec), {}).spec).toEqual({ autoDestroyActivityDuration: '14d' });
    const time = { ...spec, autoDestroyActivityDuration: null };
    expect(say(live(time), {}).spec).toEqual({ autoDestroyAt: spec.autoDestroyAt });
    expect(say(live(spec, { inheritsAutoDestroy: true }), {}).spec).toEqual({});
  });

  it('a lock is a remark, unless the defaults lock everything', () => {
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
