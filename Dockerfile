# Play and train in a container:
#   docker build -t alphazero-keras .
#   docker run --rm -it alphazero-keras play
#   docker run --rm -it -v "$PWD/run:/app/run" alphazero-keras --preset tiny --new
FROM python:3.12-slim
WORKDIR /app
RUN useradd --create-home player && chown player /app
COPY requirements.txt .
RUN pip install --no-cache-dir -r requirements.txt
COPY --chown=player . .
USER player
ENTRYPOINT ["python", "main.py"]
