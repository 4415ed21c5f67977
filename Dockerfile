# An image with trueup and git, which a ledger in git needs: docs/guides/install.md says how to build and run it.

FROM node:24-bookworm-slim AS build
WORKDIR /build
COPY . .
# The Node of this image builds the package: the one that npm would download is left out.
RUN npm ci --ignore-scripts --no-audit --no-fund \
 && mkdir /packed \
 && npm pack --silent --pack-destination /packed \
 && npm install --global --prefix /opt/trueup --no-audit --no-fund /packed/*.tgz

FROM node:24-bookworm-slim
ARG VERSION=unknown
ARG REVISION=unknown
LABEL org.opencontainers.image.title="trueup" \
      org.opencontainers.image.description="Keeps live workspaces and cluster authentication roles in sync with the YAML in a git repository" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
# Git refuses a repository of another user, such as the mounted one, by default. No versions are pinned: Debian keeps the newest alone.
# hadolint ignore=DL3008
RUN apt-get update \
 && apt-get install --yes --no-install-recommends ca-certificates git openssh-client \
 && rm -rf /var/lib/apt/lists/* \
 && git config --system --add safe.directory /work
COPY --from=build /opt/trueup /opt/trueup
ENV PATH="/opt/trueup/bin:${PATH}"
USER 1000:1000
WORKDIR /work
ENTRYPOINT ["trueup"]
CMD ["--help"]
