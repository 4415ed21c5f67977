/**
 * Makes the calls for a change of a role. Pure. A write always has the full body: declared values over live ones, zeros
 * included, and always the selector, which the service resets whenever it is left out (wire/cluster-auth 2.5).
 */
import { type Address, formatAddress } from '../../model/address.ts';
import type { Call } from '../../model/call.ts';
import type { Change } from '../../model/change.ts';
import type { Json } from '../../model/json.ts';
import type { CallContext, PlannedCalls } from '../../model/kind-calls.ts';
import type { Spec } from '../../model/resource.ts';
import { isNarrowing } from '../../model/guard.ts';
import { canonicalDefault, canonicalValue } from '../../compare/comparisons.ts';
import { mountSegments } from '../../api/cluster-auth-mount.ts';
import { wireBody } from '../../api/cluster-auth-fields.ts';
import { fieldNamesOf, fields } from './fields.ts';
import type { LiveRole } from './live-role.ts';
import { risk } from './risk.ts';
import type { RoleFields, RoleSpec } from './schema.ts';

type Context = CallContext<RoleSpec, LiveRole>;

/** After the config (0); changes that narrow access before those that widen it. */
const NARROWING = 10;
const WIDENING = 20;

/** A write relies on all live values that it repeats, a delete on all that it destroys. */
const preconditions = ['content'];

export function calls(change: Change, context: Context): PlannedCalls {
  const { address, action } = change;
  if (action === 'delete') return { calls: [deletion(address, context)], preconditions };
  const writes =
    action === 'create' || ((action === 'update' || action === 'adopt') && change.fields.length > 0);
  if (!writes) return { calls: [] };
  return { calls: [write(change, context)], ...(context.live === undefined ? {} : { preconditions }) };
}

function write(change: Change, context: Context): Call {
  const after = contentToWrite(change, context);
  const narrowing = context.live !== undefined && isNarrowing(risk(context.live.spec, after));
  return {
    ...commonParts(change.address, context),
    id: `${formatAddress(change.address)}#${change.action === 'create' ? 'create' : 'update'}`,
    method: 'POST',
    permission: context.live === undefined ? 'create' : 'update',
    body: wireBody(after),
    order: narrowing ? NARROWING : WIDENING,
  };
}

function deletion(address: Address, context: Context): Call {
  return {
    ...commonParts(address, context),
    id: `${formatAddress(address)}#delete`,
    method: 'DELETE',
    permission: 'delete',
    order: NARROWING,
  };
}

function commonParts(address: Address, { target, dialect }: Context) {
  return {
    target: address.target,
    path: mountSegments(target, dialect, 'role', address.name),
    needs: [],
    success: [200, 204],
    // Writing or deleting a role is idempotent.
    repeatable: true,
  };
}

/**
 * The canonical values of all fields after the change. An update leaves out a field that is neither returned nor declared:
 * the service keeps it, and any value sent here would be a guess.
 */
function contentToWrite(change: Change, { desired, live, dialect }: Context): RoleFields {
  const changed = new Map(change.fields.map(({ path, after }) => [path[0], after] as const));
  const declared: Spec = desired;
  const found: Spec | undefined = live?.spec;
  const content: Record<string, Json> = {};
  for (const name of fieldNamesOf(dialect)) {
    const field = fields[name];
    if (field === undefined) continue;
    const value = [changed.get(name), declared[name], found?.[name]].find((known) => known !== undefined);
    if (value !== undefined) content[name] = canonicalValue(field, value);
    else if (live === undefined && field.default !== undefined) content[name] = canonicalDefault(field);
  }
  return content;
}
