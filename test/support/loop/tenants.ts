/**
 * Organizations and mounts of one embedded service, a fresh pair for each case: starting a service for each of many
 * hundred cases would take longer than the cases. A service that has none left makes room for the next one.
 */
import { type RunningServer, type ServedRequest, startServer } from '../../../src/server/start-server.ts';
import { habits, organizationOf } from './neighbours.ts';

export interface Tenant {
  /** of the organization, of its mount, and of the user who owns it */
  readonly name: string;
  /** of the service */
  readonly url: string;
  readonly ownerToken: string;
  /** of somebody else who manages the organization's workspaces */
  readonly otherToken: string;
  readonly serviceToken: string;
  /** all that was asked of the service since the tenant was taken */
  readonly requests: ServedRequest[];
}

const batch = 80;

/** The mounts of a tenant, by the target that stands for each. */
export const mounts = { prod: (tenant: string) => tenant, spare: (tenant: string) => `${tenant}-spare` };

export class TenantPool {
  #server: RunningServer | undefined;
  #next = 0;
  readonly #free = new Map<number, Tenant[]>();
  #requests: ServedRequest[] = [];

  /** @param habit which of the ways that organizations differ in */
  async take(habit: number): Promise<Tenant> {
    const kind = habit % habits.length;
    if ((this.#free.get(kind) ?? []).length === 0) await this.#open();
    const tenant = this.#free.get(kind)?.pop();
    if (tenant === undefined) throw new Error('a service that was just started has a tenant of each kind');
    this.#requests = tenant.requests;
    return tenant;
  }

  async close(): Promise<void> {
    await this.#server?.close();
  }

  async #open(): Promise<void> {
    await this.close();
    const names = Array.from({ length: batch }, (_, index) => `t${this.#next + index}`);
    this.#next += batch;
    const server = await startServer({
      data: ':memory:',
      onRequest: (request) => this.#requests.push(request),
      seed: {
        users: names.flatMap((name) => [
          { username: name, token: `${name}-owner` },
          { username: `${name}-other`, token: `${name}-other` },
        ]),
        organizations: names.map((name, index) => {
          const organization = organizationOf(name, index);
          const managers = { name: 'managers', members: [`${name}-other`], 'manage-workspaces': true };
          return { ...organization, teams: [...(organization.teams ?? []), managers] };
        }),
        mounts: names.flatMap((name) => Object.values(mounts).map((path) => path(name))),
        'service-tokens': [{ token: 'tenants-service-token', policies: ['root'] }],
      },
    });
    this.#server = server;
    for (const [index, name] of names.entries()) {
      const kind = index % habits.length;
      const tenant: Tenant = {
        name,
        url: server.url,
        ownerToken: `${name}-owner`,
        otherToken: `${name}-other`,
        serviceToken: 'tenants-service-token',
        requests: [],
      };
      this.#free.set(kind, [...(index < habits.length ? [] : (this.#free.get(kind) ?? [])), tenant]);
    }
  }
}
