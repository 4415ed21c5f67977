/**
 * What each service expects of every request, whoever made the service: the root of its API and its media type. The
 * habits of one real product are not here but in `dialects.ts`.
 */
import { apiRoots, type Service } from '../model/stack/target.ts';

export interface ServiceHabits {
  /** what stands between the target's URL and the path of a call */
  readonly root: string;
  readonly mediaType: string;
  /** the service refuses a write without a content type, even one without a body (wire/workspaces 1.2) */
  readonly typesEveryWrite: boolean;
}

export const services: Readonly<Record<Service, ServiceHabits>> = {
  workspaces: { root: apiRoots.workspaces, mediaType: 'application/vnd.api+json', typesEveryWrite: true },
  'cluster-auth': { root: apiRoots['cluster-auth'], mediaType: 'application/json', typesEveryWrite: false },
};
