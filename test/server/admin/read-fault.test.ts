import { expect, it } from 'vitest';

import { serveWithAdmin } from '../../support/server/admin-client.ts';

const route = '/api/v2/**';

it.each([
  [{ status: 503 }, ['/route']],
  [{ route: '/admin/**', status: 503 }, ['/route']],
  [{ route: '/served-data-file', status: 503 }, ['/route']],
  [{ route, method: 'post', status: 503 }, ['/method']],
  [{ route, count: 0, status: 503 }, ['/count']],
  [{ route, status: 404 }, ['/status']],
  [{ route, status: '503' }, ['/status']],
  [{ route, 'latency-ms': -1 }, ['/latency-ms']],
  [{ route, 'latency-ms': 600_001 }, ['/latency-ms']],
  [{ route, 'latency-ms': 5, 'retry-after': 1 }, ['/retry-after']],
  [{ route, cut: 'later' }, ['/cut']],
  [{ route, cut: 'after-commit', status: 500 }, ['/cut']],
  [{ route, status: 503, delay: 5 }, ['/delay']],
  [{ route }, ['/']],
  [{ route: 5, method: 5, count: 'x', status: 'x' }, ['/method', '/route', '/count', '/status']],
  [{ route, method: 'BREW', status: 503 }, ['/method']],
  [{ route, method: 'PUT', status: 503 }, ['/method']],
  [{ route: '/api/v2/ping', method: 'POST', status: 503 }, ['/method']],
  [{ route: '/v1/**', method: 'LIST', status: 503 }, ['/method']],
  [{ route: '/v1/**', method: 'PROPFIND', status: 503 }, ['/method']],
  [{ route: '/api/v2/workspace/ws-1', status: 503 }, ['/route']],
  [{ route: '/api/v2/workspaces/*/actions/locks', status: 503 }, ['/route']],
  [{ route: '/api/v1/**', status: 503 }, ['/route']],
  [{ route: '/api/v2/workspaces/', status: 503 }, ['/route']],
  [{ route: '/api/v2/ping?x=1', status: 503 }, ['/route']],
  [{ route: '/v1/auth/cluster/role/é', status: 503 }, ['/route']],
  [{ route: '/v1/**/role', status: 503 }, ['/route']],
])('refuses the fault %j, and names the wrong member', async (fault, places) => {
  const { admin } = await serveWithAdmin();
  const answer = await admin('POST', '/faults', fault);
  expect(answer.status).toBe(422);
  expect([...new Set(answer.pointers)].sort()).toEqual([...places].sort());
  expect(JSON.parse((await admin('GET', '/faults')).text)).toEqual({ faults: [] });
});
