import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { exemptionsFor, exemptionState, isNewExemption } from '../../src/policies/exemptions.ts';

const day = 24 * 60 * 60 * 1000;
const noon = Date.parse('2026-11-26T12:00:00Z');
const dayText = (at: number) => new Date(at).toISOString().slice(0, 10);

describe('An exemption', () => {
  it('is in force on its whole last day, and ends when the next day begins in UTC', () => {
    const state = (at: string) => exemptionState({ until: '2026-11-26' }, Date.parse(at)).is;
    expect(state('2026-11-26T23:59:59.999Z')).toBe('in-force');
    expect(state('2026-11-27T00:00:00Z')).toBe('ended');
  });

  it('ends exactly at its given time', () => {
    const state = (at: string) => exemptionState({ until: '2026-11-26T12:00:00Z' }, Date.parse(at)).is;
    expect(state('2026-11-26T11:59:59Z')).toBe('in-force');
    expect(state('2026-11-26T12:00:00Z')).toBe('ended');
  });

  it('has no effect if it ends more than 90 days from now', () => {
    expect(exemptionState({ until: dayText(noon + 90 * day) }, noon).is).toBe('in-force');
    expect(exemptionState({ until: dayText(noon + 92 * day) }, noon).is).toBe('too-far');
  });

  it('ends soon in its last 14 days', () => {
    expect(exemptionState({ until: dayText(noon + 13 * day) }, noon)).toEqual({
      is: 'in-force',
      endsSoon: true,
    });
    expect(exemptionState({ until: dayText(noon + 14 * day) }, noon)).toEqual({
      is: 'in-force',
      endsSoon: false,
    });
  });

  it.each(['2026-02-30', '2026-13-01', 'tomorrow'])(
    'is invalid if its end is not a valid date: %s',
    (until) => {
      expect(exemptionState({ until }, noon).is).toBe('invalid');
    },
  );

  it('stays ended', () => {
    const time = fc.integer({ min: noon, max: noon + 400 * day });
    fc.assert(
      fc.property(time, time, fc.nat(400 * day), (end, at, later) => {
        const exemption = { until: dayText(end) };
        if (exemptionState(exemption, at).is !== 'ended') return;
        expect(exemptionState(exemption, at + later).is).toBe('ended');
      }),
    );
  });

  it('is for matching addresses, and only a star is special', () => {
    const exemptions = [{ resource: 'Workspace/acme/net-*', reason: 'r', owner: 'o', until: '2026-12-01' }];
    expect(exemptionsFor(exemptions, 'Workspace/acme/net-prod')).toHaveLength(1);
    expect(exemptionsFor(exemptions, 'Workspace/acme/web')).toHaveLength(0);
    expect(exemptionsFor(exemptions, 'xWorkspace/acme/net-prod')).toHaveLength(0);
  });

  it('loosens a policy if it covers more resources, or ends later, than those before', () => {
    const one = (resource: string, until: string) => ({ resource, until, reason: 'r', owner: 'o' });
    const before = [one('Workspace/acme/net-*', '2026-12-01')];
    expect(isNewExemption(one('Workspace/acme/net-a', '2026-11-30'), before)).toBe(false);
    expect(isNewExemption(one('Workspace/acme/net-a', '2026-12-02'), before)).toBe(true);
    expect(isNewExemption(one('Workspace/acme/*', '2026-11-30'), before)).toBe(true);
  });
});
