import { describe, expect, it } from 'vitest';
import { similarity, risk } from '../../../src/kinds/workspace/risk.ts';

describe('The risk of a workspace', () => {
  it('is that everyone can read its state', () => {
    const effects = risk({ globalRemoteState: false }, { globalRemoteState: true });
    expect(effects).toMatchObject([
      { effect: 'widens', guard: 'global-sharing', path: ['globalRemoteState'] },
    ]);
    expect(risk(undefined, { globalRemoteState: true })).toMatchObject([{ effect: 'widens' }]);
  });

  it('narrows when sharing ends, and is empty otherwise', () => {
    expect(risk({ globalRemoteState: true }, {})).toMatchObject([{ effect: 'narrows' }]);
    expect(risk({ autoApply: false }, { autoApply: true })).toEqual([]);
    expect(risk({ globalRemoteState: true }, undefined)).toEqual([]);
  });

  it('is similar to one with the same repository, and more so with the same branch and directory', () => {
    const one = { vcsRepo: { identifier: 'acme/network', oauthTokenId: 'ot-1' }, workingDirectory: 'prod' };
    const other = { vcsRepo: { identifier: 'acme/network', branch: '' }, workingDirectory: 'prod' };
    expect(similarity(one)).toEqual(similarity(other));
    const elsewhere = similarity({ ...one, workingDirectory: 'test' });
    expect(elsewhere?.[0]).toBe(similarity(one)?.[0]);
    expect(elsewhere).not.toEqual(similarity(one));
    expect(similarity({ workingDirectory: 'prod' })).toBeUndefined();
  });
});
