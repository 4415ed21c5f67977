/** The rules about consumers that a schema cannot express (wire/workspaces 5.5). Offline. */
import type { Json } from '../../model/json.ts';
import type { ResourceProblem, CheckContext } from '../../model/kind.ts';
import type { DesiredResource } from '../../model/resource.ts';
import { quoted } from '../../model/quoted.ts';
import { workspaceOf } from '../../api/workspaces/workspace.ts';
import type { RemoteStateConsumersSpec } from './schema.ts';

export function check(
  { address, spec }: DesiredResource<RemoteStateConsumersSpec>,
  others: CheckContext,
): readonly ResourceProblem[] {
  const consumers = (Array.isArray(spec.consumers) ? spec.consumers : []) as readonly Json[];
  const { globalRemoteState } = others.declared(workspaceOf(address))?.spec ?? {};
  const global = globalRemoteState === true;
  const firsts = new Map<Json, number>();
  for (const [position, name] of consumers.entries()) if (!firsts.has(name)) firsts.set(name, position);
  return [
    ...(global ? [sharedGlobally(address.name)] : []),
    ...consumers.flatMap((name, position) =>
      checkConsumer(name, position, { first: firsts.get(name) ?? position, self: address.name }),
    ),
  ];
}

function sharedGlobally(name: string): ResourceProblem {
  return {
    code: 'consumers-while-global',
    severity: 'error',
    path: ['consumers'],
    message: `workspace ${quoted(name)} shares its state globally, so it cannot have a list of consumers`,
    allowed: 'one of "globalRemoteState: true" and a list of consumers',
    fix: 'set "globalRemoteState" of the workspace to false, or remove the list',
  };
}

function checkConsumer(
  name: Json,
  position: number,
  { first, self }: { readonly first: number; readonly self: string },
): ResourceProblem[] {
  const path = ['consumers', String(position)];
  if (name === self) {
    return [
      {
        code: 'consumer-of-itself',
        severity: 'error',
        path,
        message: `workspace ${quoted(self)} cannot be a consumer of its own state, which it reads anyway`,
        fix: 'remove it from the list',
      },
    ];
  }
  if (first === position) return [];
  return [
    {
      code: 'duplicate-consumer',
      severity: 'error',
      path,
      message: `consumer ${quoted(String(name))} is listed twice`,
      fix: 'remove one of the two',
      related: { message: 'the first one', path: ['consumers', String(first)] },
    },
  ];
}
