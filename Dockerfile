# sheaf serve in a container, started the way people start DynamoDB Local:
#
#   docker build -t sheaf .
#   docker run --rm -p 8000:8000 sheaf -inMemory -sharedDb      nothing is kept
#   docker run -p 8000:8000 -v sheaf:/data sheaf                data in the volume
#
# Inside it listens on 0.0.0.0 without authentication: publish the port to networks you trust, or
# give --auth.
FROM debian:12 AS build
WORKDIR /src
COPY scripts/setup scripts/setup
RUN apt-get update && scripts/setup build
COPY . .
RUN cmake --preset serve && cmake --build --preset serve --target sheaf && strip build/serve/sheaf

FROM debian:12-slim
RUN apt-get update \
 && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends libssl3 \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --system --home-dir /data --shell /usr/sbin/nologin sheaf \
 && install -d -o sheaf -g sheaf -m 700 /data
COPY --from=build /src/build/serve/sheaf /usr/local/bin/sheaf
USER sheaf
VOLUME /data
EXPOSE 8000
STOPSIGNAL SIGTERM
# In the environment, so that flags of `docker run` win over them.
ENV SHEAF_HOST=0.0.0.0 SHEAF_INSECURE=on SHEAF_DATA=/data/sheaf
ENTRYPOINT ["/usr/local/bin/sheaf", "serve"]
