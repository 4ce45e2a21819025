# One image for every process of production; compose.yaml says which process each container runs.
FROM python:3.11-slim

# git lists the tracked files of a checkout that is a source.
RUN apt-get update && apt-get install -y --no-install-recommends git && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home --uid 10001 earmark
WORKDIR /app

COPY requirements/server.txt requirements/server.txt
RUN pip install --no-cache-dir --disable-pip-version-check --no-deps --require-hashes -r requirements/server.txt

COPY manage.py ./
COPY config config
COPY tenants tenants
COPY knowledge knowledge
COPY scopes scopes
COPY golden golden
COPY search search
COPY voiceapi voiceapi
COPY contracts contracts
COPY evals/baseline.json evals/baseline.json
COPY locale locale
COPY static static
COPY templates templates
COPY webroot webroot

ENV DJANGO_SETTINGS_MODULE=config.settings.prod PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
# Nothing of this is kept: the values only let the settings be read while the image is built.
RUN SECRET_KEY="$(python -c 'import secrets; print(secrets.token_urlsafe(64))')" ALLOWED_HOSTS=build.invalid \
    DATABASE_URL=postgresql://app:none@build.invalid/earmark python manage.py collectstatic --noinput

# The local embedding model is prepared here once; compose.yaml keeps it in a volume.
RUN install -d -o earmark -m 700 .earmark
USER earmark
EXPOSE 8000
CMD ["gunicorn", "-c", "python:config.webserver", "--bind", "0.0.0.0:8000", "config.wsgi"]
