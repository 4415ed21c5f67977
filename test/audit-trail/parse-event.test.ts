// parseEvent accepts an event with everything that it has, or refuses it.
import { describe, expect, it } from 'vitest';
import { parseEvent, parseTimestamp } from '../../src/audit-trail/read-trail.ts';
import type { Json } from '../../src/model/json.ts';
import { servedEvent } from '../support/audit/trail-service.ts';

const asJson = (value: unknown) => value as Json;
const parse = (more: Record<string, unknown> = {}) =>
  parseEvent(asJson(servedEvent('e1', { more })), 'event 1 on page 1');

describe('an event', () => {
  it('has an actor, an action, a resource, a time and a request', () => {
    expect(parse()).toMatchObject({
      id: 'e1',
      version: '0',
      type: 'Resource',
      timestamp: '2026-11-20T12:00:00.000Z',
      at: Date.parse('2026-11-20T12:00:00Z'),
      actor: { id: 'user-ann', name: 'ann', kind: 'Client' },
      organizationId: 'org-acme',
      requestId: 'request-of-e1',
      resource: { id: 'ws-1', type: 'workspace', action: 'update' },
    });
  });

  it('may report its version as a number or as a text', () => {
    expect([0, 1, '0', '2'].map((version) => parse({ version }).version)).toEqual(['0', '1', '0', '2']);
  });

  it('is kept with all its members, also unknown ones', () => {
    const more = {
      resource: { id: 'r', type: 't', action: 'a', meta: { team: 'x' }, region: 'eu' },
      policy_engine: 'p',
    };
    expect(parse(more).raw).toEqual(servedEvent('e1', { more }));
  });

  it('may have no request, no user as its actor, and an impersonator', () => {
    const auth = { type: 'System', accessor_id: null, description: null, organization_id: 'org-acme' };
    const event = parse({ request: null, auth, type: null });
    expect(event).not.toHaveProperty('requestId');
    expect(event).toMatchObject({ type: 'Resource', actor: { id: '', name: '', kind: 'System' } });
    const impersonated = {
      ...auth,
      accessor_id: 'user-a',
      description: 'a',
      type: 'Impersonated',
      impersonator_id: 'user-b',
    };
    expect(parse({ auth: impersonated }).actor).toEqual({
      id: 'user-a',
      name: 'a',
      kind: 'Impersonated',
      impersonatorId: 'user-b',
    });
  });

  const auth = { accessor_id: 'user-a', description: 'a', type: 'Client', organization_id: 'org-acme' };
  const resource = { id: 'ws-1', type: 'workspace', action: 'update' };

  it.each<[string, Record<string, unknown>, string]>([
    ['without an id', { id: undefined }, '"id" of event 1 on page 1 of the audit trail is'],
    [
      'with an id that is not a text',
      { id: 7 },
      '"id" of event 1 on page 1 of the audit trail is not a text',
    ],
    ['with an empty id', { id: '' }, '"id" of event 1'],
    ['without a version', { version: null }, '"version" of event 1'],
    [
      'with a day for a time',
      { timestamp: '2026-11-20' },
      '"timestamp" of event 1 on page 1 of the audit trail is not a time',
    ],
    ['with an invalid hour', { timestamp: '2026-11-20T25:00:00Z' }, '"timestamp" of event 1'],
    ['without an actor', { auth: null }, '"auth" of event 1 on page 1 of the audit trail is not an object'],
    [
      'with an actor without a kind',
      { auth: { ...auth, type: undefined } },
      '"type" of "auth" of event 1 on page 1 of the audit trail is',
    ],
    [
      'with an actor whose name is not a text',
      { auth: { ...auth, description: ['a'] } },
      '"description" of "auth"',
    ],
    ['without an organization', { auth: { ...auth, organization_id: null } }, '"organization_id" of "auth"'],
    [
      'with a resource that is not an object',
      { resource: 'ws-1' },
      '"resource" of event 1 on page 1 of the audit trail is not an object',
    ],
    ['without an action', { resource: { ...resource, action: null } }, '"action" of "resource"'],
    [
      'with a request that is not an object',
      { request: 'r' },
      '"request" of event 1 on page 1 of the audit trail is not an object',
    ],
  ])('%s is refused, and the error names the member', (_, more, words) => {
    expect(() => parse(more)).toThrow(words);
  });

  it('may report its time with an offset, and with more or less than milliseconds', () => {
    const noon = Date.parse('2026-11-20T12:00:00Z');
    expect(parseTimestamp('2026-11-20T14:00:00+02:00')).toBe(noon);
    expect(parseTimestamp('2026-11-20T12:00:00.1234567Z')).toBe(noon + 123);
    expect(parseTimestamp('20 Nov 2026 12:00 UTC')).toBeUndefined();
    expect(parseTimestamp('2026-11-20 12:00:00Z')).toBeUndefined();
  });
});
