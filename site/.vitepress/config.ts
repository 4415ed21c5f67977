/** The site of the documentation. Its pages are the Markdown files of the repository; `site/pages.ts` has their places. */
import { copyFileSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { renderMermaidSVG } from 'beautiful-mermaid';
import { slug } from 'github-slugger';
import { defineConfig, type MarkdownOptions } from 'vitepress';
import { excluded, linkFrom, placeOf, sidebarOf } from '../pages.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (page: string) => readFileSync(join(root, page), 'utf8');

/** Files that are no pages and that a page links: by their place on the site, the path in the repository. */
const linked = new Map<string, string>();

type Renderer = Parameters<NonNullable<MarkdownOptions['config']>>[0];

/** Relative links are those of the repository; VitePress gets the places on the site, and checks them. */
function linkPlaces(md: Renderer): void {
  md.core.ruler.push('link-places', ({ tokens, env }) => {
    const page = relative(root, env.realPath ?? env.path);
    for (const token of tokens.flatMap(({ children }) => children ?? [])) {
      const href = token.type === 'link_open' ? token.attrGet('href') : null;
      if (href === null || href === '' || /^(?:[a-z]+:|#)/.test(href)) continue;
      const { href: place, file } = linkFrom(page, href);
      token.attrSet('href', place);
      if (file === undefined) continue;
      // The router of the site must not load it as a page.
      token.attrSet('target', '_self');
      linked.set(file.to, file.from);
    }
  });
}

/** Diagrams are drawn when the site is built. Their own style would load a font from another host; the theme has one for them. */
function drawDiagrams(md: Renderer): void {
  const { fence } = md.renderer.rules;
  md.renderer.rules.fence = (...args) => {
    const [tokens, index] = args;
    const { info = '', content = '' } = tokens[index] ?? {};
    if (info.trim() !== 'mermaid') return fence?.(...args) ?? '';
    const svg = renderMermaidSVG(content, { bg: 'var(--vp-c-bg)', fg: 'var(--vp-c-text-1)' });
    return `<div class="diagram" v-pre>${svg.replace(/<style>[\s\S]*?<\/style>/, '')}</div>`;
  };
}

/** The outline of a page with very many headings lists its sections only. */
function outlineOf(page: string): { outline?: 2 } {
  const headings = read(page).match(/^### /gm) ?? [];
  return headings.length > 60 ? { outline: 2 } : {};
}

export default defineConfig({
  srcDir: '..',
  outDir: 'dist',
  cacheDir: 'node_modules/.cache/vitepress',
  srcExclude: excluded,
  rewrites: (page) => placeOf(page),
  title: 'trueup',
  description:
    'Keeps live workspaces and cluster authentication roles in sync with the YAML in a git repository',
  head: [
    [
      'link',
      {
        rel: 'icon',
        href: 'data:image/svg+xml,%3Csvg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"%3E%3Crect width="16" height="16" rx="3" fill="%233451b2"/%3E%3Cpath d="M4 8.5 7 11l5-6" fill="none" stroke="white" stroke-width="2"/%3E%3C/svg%3E',
      },
    ],
  ],
  vite: {
    plugins: [
      {
        // Pages are outside of this folder, and import what is installed in it.
        name: 'vue-of-site',
        enforce: 'pre',
        resolveId(id, _importer, { ssr }) {
          if (!/^vue(?:\/|$)/.test(id)) return null;
          return ssr
            ? { id, external: true }
            : this.resolve(id, fileURLToPath(import.meta.url), { skipSelf: true });
        },
      },
    ],
    // The index of the search is large.
    build: { chunkSizeWarningLimit: 4000 },
  },
  markdown: {
    anchor: { slugify: (heading) => slug(heading) },
    config: (md) => {
      // File names such as README.md are no addresses.
      md.linkify.set({ fuzzyLink: false, fuzzyEmail: false });
      linkPlaces(md);
      drawDiagrams(md);
    },
  },
  themeConfig: {
    nav: [
      { text: 'Tutorial', link: '/tutorial' },
      { text: 'Guides', link: '/guides/writing-manifests', activeMatch: '^/guides/' },
      { text: 'Reference', link: '/reference/manifests', activeMatch: '^/reference/' },
    ],
    sidebar: [...sidebarOf(read)],
    outline: { level: [2, 3] },
    search: { provider: 'local', options: { detailedView: true } },
    externalLinkIcon: true,
  },
  transformPageData: ({ filePath, frontmatter }) => ({
    frontmatter: { ...outlineOf(filePath), ...frontmatter },
  }),
  buildEnd: ({ outDir }) => {
    for (const [to, from] of linked) {
      mkdirSync(dirname(join(outDir, to)), { recursive: true });
      copyFileSync(join(root, from), join(outDir, to));
    }
  },
});
