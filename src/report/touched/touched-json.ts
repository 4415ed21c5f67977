/** Who touched a resource, as JSON: without the rest of the event, which the trail has. */
import type { Modification, LastModified } from '../../model/plan/touch.ts';
import type { PlanJson } from '../json/plan-schema.ts';

type LastModifiedJson = NonNullable<PlanJson['changes'][number]['touched']>;

export function lastModifiedJson({ touches, unknown }: LastModified): LastModifiedJson {
  return { touches: touches.map(modificationJson), ...(unknown === undefined ? {} : { unknown }) };
}

function modificationJson({
  at,
  actor,
  resource,
  event,
  requestId,
  maybeOurs,
}: Modification): LastModifiedJson['touches'][number] {
  const { id, name, kind, impersonatorId } = actor;
  return {
    at,
    actor: { id, name, kind, ...(impersonatorId === undefined ? {} : { impersonatorId }) },
    resource: { type: resource.type, action: resource.action },
    event,
    ...(requestId === undefined ? {} : { requestId }),
    ...(maybeOurs && { maybeOurs }),
  };
}
