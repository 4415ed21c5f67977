import { describe, expect, it } from 'vitest';
import type { Call } from '../../src/model/call.ts';
import type { Change } from '../../src/model/change.ts';
import type { FieldChange } from '../../src/model/field.ts';
import type { Json } from '../../src/model/json.ts';
import type { Kind } from '../../src/model/kind.ts';
import type { LedgerRecord } from '../../src/model/ledger.ts';
import type { Spec } from '../../src/model/resource.ts';
import type { Answer } from '../../src/model/http.ts';
import { checkResponses, withValuesAt } from '../../src/plan/verify-responses.ts';
import { parentKind } from '../support/sample-kinds/sample-kind.ts';

const call: Call = {
  id: 'Parent/acme/app#write',
  target: 'acme',
  method: 'PATCH',
  path: [],
  order: 0,
  needs: [],
  success: [200],
  repeatable: true,
};

const answer: Answer = { method: 'PATCH', url: '', status: 200, body: null, words: '' };

/** A parent kind whose writes are answered with this spec, about its fields and those of `more`. */
function answering(spec: Spec, ...more: string[]): Kind {
  return { ...parentKind, fieldsFromResponse: () => ({ about: [...Object.keys(spec), ...more], spec }) };
}

function field(path: string, about: Partial<FieldChange> = {}): FieldChange {
  return { path: path.split('.'), shape: 'scalar', ...about };
}

function check(kind: Kind, fields: readonly FieldChange[], { was = {}, shall = {} }: Records = {}) {
  const change: Change = {
    address: { kind: 'Parent', target: 'acme', name: 'app' },
    action: 'update',
    reason: '',
    fields,
    notes: [],
    calls: [call],
    preconditions: {},
  };
  const recordOf = (spec: Spec): LedgerRecord => ({ origin: 'created', fields: spec });
  const answers = new Map([[call.id, answer]]);
  return checkResponses({ kind, change, answers, record: recordOf(was), drafted: recordOf(shall) });
}

interface Records {
  readonly was?: Spec;
  readonly shall?: Spec;
}

const nothing = { contradicted: [], ignored: [], unverifiable: [], unverified: [] };

describe('A response confirms the request with', () => {
  it.each<[string, FieldChange, Json]>([
    ['an empty text instead of null', field('about', { before: 'x', after: null }), ''],
    ['a set in another order', field('readers', { before: [], after: ['a', 'b'] }), ['b', 'a']],
    ['a duration in other units', field('timeout', { before: 0, after: 3600 }), '1h'],
    [
      'an object with members that were not sent',
      field('access', { after: { note: 'red' } }),
      { note: 'red', users: [] },
    ],
    [
      'an object without a member that was sent',
      field('access', { after: { note: null, key: 'k' } }),
      { note: '' },
    ],
    [
      'a member that was reset',
      field('access.note', { before: 'red', after: null }),
      { note: '', users: [] },
    ],
    ['a key of a map that was removed', field('labels.a', { before: 'x' }), { b: 'y' }],
    ['a field that has its default again', field('colour', { before: 'blue' }), 'red'],
  ])('%s', (_, change, value) => {
    expect(check(answering({ [change.path[0] ?? '']: value }), [change])).toEqual(nothing);
  });
});

describe('A response that contradicts the request', () => {
  it.each<[string, FieldChange, Json, Json | undefined]>([
    ['a value', field('colour', { before: 'red', after: 'blue' }), 'red', 'red'],
    ['a member', field('access.note', { before: 'red', after: null }), { note: 'red' }, 'red'],
    [
      'an object with another member',
      field('access', { before: null, after: { note: 'a' } }),
      { note: 'b' },
      { note: 'b' },
    ],
    ['a key that is still there', field('labels.a', { before: 'x' }), { a: 'x' }, 'x'],
    ['a key that is missing', field('labels.a', { after: 'x' }), {}, undefined],
  ])('in %s is reported with its value, and the sent value is not recorded', (_, change, value, answered) => {
    const verdict = check(answering({ [change.path[0] ?? '']: value }), [change]);
    expect(verdict.contradicted).toEqual([
      { ...change, ...(answered === undefined ? {} : { before: answered }) },
    ]);
    expect(verdict.unverified).toEqual([change.path]);
  });
});

describe('A reset that the response confirms', () => {
  const records = { was: { colour: 'blue' } };

  it('is not recorded before a read, because the response may only repeat the request', () => {
    const reset = field('colour', { before: 'blue', after: 'red' });
    const verdict = check(answering({ colour: 'red' }), [reset], records);
    expect(verdict).toEqual({ ...nothing, unverified: [['colour']] });
  });

  it('is proved by the response if no read reports the field', () => {
    const blind = field('colour', { after: 'red', unknown: 'not returned by the service' });
    expect(check(answering({ colour: 'red' }), [blind], records)).toEqual(nothing);
  });
});

describe('A field that was to be reset and is returned with its old value', () => {
  const reset = field('colour', { before: 'blue', after: 'red' });

  it('was ignored by the service', () => {
    const verdict = check(answering({ colour: 'blue' }), [reset], { was: { colour: 'blue' } });
    expect(verdict.ignored).toEqual([reset]);
    expect(verdict.contradicted).toEqual(verdict.ignored);
  });

  it('was not ignored if another value is returned', () => {
    const verdict = check(answering({ colour: 'green' }), [reset], { was: { colour: 'blue' } });
    expect(verdict.contradicted).toEqual([{ ...reset, before: 'green' }]);
    expect(verdict.ignored).toEqual([]);
  });
});

describe('A field that the response does not have', () => {
  const reset = field('colour', { before: 'blue', after: 'red' });

  it('is left to the next plan if the service reported it before', () => {
    const records = { was: { colour: 'blue' } };
    expect(check(answering({}, 'colour'), [reset], records)).toEqual({
      ...nothing,
      unverified: [['colour']],
    });
    expect(check(parentKind, [reset], records)).toEqual({ ...nothing, unverified: [['colour']] });
    expect(check(parentKind, [reset], { ...records, shall: { colour: 'red' } })).toEqual(nothing);
  });

  it('cannot be verified if the service never reported it, and its record is removed', () => {
    const blind = field('colour', { after: 'red', unknown: 'not returned by the service' });
    const verdict = check(answering({}, 'colour'), [blind], { was: { colour: 'blue' } });
    expect(verdict).toEqual({ ...nothing, unverifiable: [['colour']] });
    const member = field('access.key', { after: 'k', unknown: 'not returned by the service' });
    expect(check(answering({ access: { note: null } }), [member]).unverifiable).toEqual([['access', 'key']]);
    const bodiless = check(parentKind, [blind], { was: { colour: 'blue' } });
    expect(bodiless).toEqual({ ...nothing, unverifiable: [['colour']] });
  });

  it('is left to the next plan if it was only hidden for a while', () => {
    const hidden = field('consumers', { after: ['a'], unknown: 'unknown while shared globally' });
    expect(check(parentKind, [hidden])).toEqual(nothing);
  });

  it('is not reported if it is a secret', () => {
    expect(check(answering({}, 'credential'), [field('credential', { after: { set: true } })])).toEqual(
      nothing,
    );
  });
});

it('A record keeps its former values at unverified paths, and no value if it had none', () => {
  const known = { colour: 'blue', access: { note: 'red' } };
  const paths = [['colour'], ['access', 'note'], ['access', 'key'], ['about'], ['labels', '__proto__']];
  const drafted = { about: 'new', access: { key: 'k' }, readers: [] };
  expect(withValuesAt(drafted, known, paths)).toEqual({
    colour: 'blue',
    access: { note: 'red' },
    readers: [],
  });
});
