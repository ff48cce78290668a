# Stand-in for the entry point of the image `postgres`: creates the cluster on the first start, then runs the server as its account.
set -eu
data=/var/lib/postgresql/18/docker
mkdir -p $data /var/run/postgresql
chown -R postgres $data /var/run/postgresql
as() { setpriv --reuid=postgres --regid=postgres --clear-groups env LD_LIBRARY_PATH=/opt/postgres/lib "$@"; }
if [ ! -s $data/PG_VERSION ]; then
  echo "$POSTGRES_PASSWORD" >/tmp/password
  chmod 644 /tmp/password
  as initdb -D $data -U "$POSTGRES_USER" --pwfile=/tmp/password --auth-host=scram-sha-256 --auth-local=trust \
    --encoding=UTF8 --no-locale --locale-provider=builtin --builtin-locale=C.UTF-8
  rm /tmp/password
  echo "host all all all scram-sha-256" >>$data/pg_hba.conf
  echo "CREATE DATABASE $POSTGRES_DB" | as postgres --single -D $data postgres
fi
shift
exec setpriv --reuid=postgres --regid=postgres --clear-groups env LD_LIBRARY_PATH=/opt/postgres/lib \
  postgres -D $data -c listen_addresses='*' -c unix_socket_directories=/var/run/postgresql "$@"
