/**
 * Reads one event of a trail, and refuses events of another organization. Strict about the actor and the action, so that nothing is
 * attributed by a guess; unknown members are kept.
 */
import { type TrailActor, TrailError, type TrailEvent } from '../model/audit-trail.ts';
import { isJsonObject, type Json, type JsonObject, ownMember } from '../model/json.ts';
import { quoted } from '../model/quoted.ts';

/** @throws TrailError that names the member that is wrong. Source: wire/audit-trails 2 */
export function parseEvent(value: Json | undefined, position: string): TrailEvent {
  const event = new Members(value, position);
  const auth = event.object('auth');
  const resource = event.object('resource');
  const timestamp = event.text('timestamp');
  const requestId = event.optionalObject('request')?.optionalText('id');
  return {
    id: event.text('id'),
    version: event.version('version'),
    type: event.optionalText('type') ?? 'Resource',
    timestamp,
    at: parseTimestamp(timestamp) ?? event.refuse('timestamp', 'a time such as 2026-11-20T11:42:00.123Z'),
    actor: readActor(auth),
    organizationId: auth.text('organization_id'),
    ...(requestId === undefined ? {} : { requestId }),
    resource: { id: resource.text('id'), type: resource.text('type'), action: resource.text('action') },
    raw: event.raw,
  };
}

/** Id and name may be missing, as for actions of the system. */
function readActor(auth: Members): TrailActor {
  const impersonatorId = auth.optionalText('impersonator_id');
  return {
    id: auth.optionalText('accessor_id') ?? '',
    name: auth.optionalText('description') ?? '',
    kind: auth.text('type'),
    ...(impersonatorId === undefined ? {} : { impersonatorId }),
  };
}

/** Milliseconds since 1970 of an RFC 3339 time; undefined for any other text, even if `Date` accepts it. */
export function parseTimestamp(text: string): number | undefined {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/i.test(text)) return undefined;
  const at = Date.parse(text.toUpperCase());
  return Number.isNaN(at) ? undefined : at;
}

/** Reads the members of an object with the required types. */
class Members {
  readonly raw: JsonObject;
  readonly #path: string;

  constructor(value: Json | undefined, path: string) {
    if (!isJsonObject(value)) throw new TrailError(`${path} of the audit trail is not an object`);
    this.raw = value;
    this.#path = path;
  }

  text(name: string): string {
    return this.optionalText(name) ?? this.refuse(name, 'a text');
  }

  /** Undefined if absent, null or empty. */
  optionalText(name: string): string | undefined {
    const value = ownMember(this.raw, name) ?? null;
    if (value === null || value === '') return undefined;
    return typeof value === 'string' ? value : this.refuse(name, 'a text');
  }

  version(name: string): string {
    const value = ownMember(this.raw, name);
    return typeof value === 'number' ? String(value) : this.text(name);
  }

  object(name: string): Members {
    return new Members(ownMember(this.raw, name), `${quoted(name)} of ${this.#path}`);
  }

  optionalObject(name: string): Members | undefined {
    return (ownMember(this.raw, name) ?? null) === null ? undefined : this.object(name);
  }

  refuse(name: string, wanted: string): never {
    const is = Object.hasOwn(this.raw, name) ? 'is not' : 'is missing: it must be';
    throw new TrailError(`${quoted(name)} of ${this.#path} of the audit trail ${is} ${wanted}`);
  }
}

// The token determines the organization of a trail, so its events must show that it is the right one.

/**
 * @param organization the opaque id that the events must have (wire/audit-trails 2)
 * @throws TrailError for an event of another one
 */
export function refuseForeign({ organizationId }: TrailEvent, organization: string): void {
  if (organizationId === organization) return;
  throw new TrailError(
    `this is the audit trail of another organization: the target has the organization id ${quoted(organization)}, an event has ${quoted(organizationId)}; check the target's "auditToken"`,
  );
}
