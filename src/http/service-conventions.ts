/**
 * What each service requires of every request, for all its dialects: the root of its API and its media type. What differs between
 * real products is in `dialects.ts`.
 */
import { apiRoots, type Service } from '../model/stack/target.ts';

interface ServiceConventions {
  /** the path between the target's URL and the path of a call */
  readonly root: string;
  readonly mediaType: string;
  /** the service refuses a write without a content type, even one without a body (wire/workspaces 1.2) */
  readonly typesEveryWrite: boolean;
  /** the service has no limit unless its operator sets one, so reads need no rate before it refuses one (decision 0012) */
  readonly freeReads: boolean;
  /** where a token is told what it may do on given paths, by POST; absent where nobody tells it so (wire/cluster-auth 2.9) */
  readonly rightsPath?: string;
}

export const services: Readonly<Record<Service, ServiceConventions>> = {
  workspaces: {
    root: apiRoots.workspaces,
    mediaType: 'application/vnd.api+json',
    typesEveryWrite: true,
    freeReads: false,
  },
  'cluster-auth': {
    root: apiRoots['cluster-auth'],
    mediaType: 'application/json',
    typesEveryWrite: false,
    freeReads: true,
    rightsPath: '/sys/capabilities-self',
  },
};
