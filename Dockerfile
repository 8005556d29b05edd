# Plays, serves and trains in a container; the code is compiled, and runs are kept in the folder mounted at /runs:
#   docker build -t alphazero-keras .
#   docker run --rm -it alphazero-keras play
#   docker run --rm -it -p 127.0.0.1:8080:8080 -v "$PWD/run:/runs" alphazero-keras
#   docker run --rm -it -v "$PWD/run:/runs" alphazero-keras train --preset tiny --new
# The third serves the page; open the address that it prints, with localhost as the host. The user in the container has
# the number 1000. Where yours is another (`id -u`), build with `--build-arg UID=$(id -u)`, so that it may write there.
FROM python:3.12-slim
ARG UID=1000
WORKDIR /app
COPY requirements.txt requirements-web.txt ./
RUN pip install --no-cache-dir -r requirements-web.txt "bitbully>=0.0.79,<0.1" \
    && useradd --create-home --uid "$UID" player \
    && mkdir /runs \
    && chown player /app /runs
COPY --chown=player . .
USER player
ENV ALPHAZERO_RUNS=/runs
RUN python main.py prepare
VOLUME /runs
EXPOSE 8080
ENTRYPOINT ["python", "main.py"]
CMD ["serve", "--host", "0.0.0.0", "--no-open", "--allow-host", "localhost", "--allow-host", "127.0.0.1"]
