/** Who touched a resource, as JSON: without the rest of the event, which the trail has. */
import type { Touch, Touched } from '../../model/plan/touch.ts';
import type { PlanJson } from '../json/plan-schema.ts';

type TouchedJson = NonNullable<PlanJson['changes'][number]['touched']>;

export function touchedJson({ touches, unknown }: Touched): TouchedJson {
  return { touches: touches.map(touchJson), ...(unknown === undefined ? {} : { unknown }) };
}

function touchJson({
  at,
  actor,
  resource,
  event,
  requestId,
  maybeOurs,
}: Touch): TouchedJson['touches'][number] {
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
