/** One login as it came in: nobody is known yet. */
import type { Services } from '../../services.ts';
import type { Mount } from '../mounts.ts';

export interface LoginCall {
  readonly services: Services;
  readonly mount: Mount;
  /** The peer's IP address. */
  readonly address: string | undefined;
  readonly body: Readonly<Record<string, unknown>>;
}
