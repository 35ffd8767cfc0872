"""One settings file for every environment; environment variables decide what differs.

`planner.environment` describes each variable. Nothing imports this module: use
`django.conf.settings`.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from csp.constants import NONE, SELF
from django.contrib.messages import constants as message_levels

from planner.backends import choose_mail_backend, is_collected
from planner.environment import connect_database, connect_mail_server, read_environment
from planner.places import BASE_DIR, DATA_DIR
from planner.services.observability.logs import configure_logging

env = read_environment()

DEBUG = env.DEBUG
SECRET_KEY = env.SECRET_KEY or "insecure-for-development-only-" + "0" * 30
SECRET_KEY_FALLBACKS = env.SECRET_KEY_FALLBACKS
ALLOWED_HOSTS = env.ALLOWED_HOSTS
LOGIN_REQUIRED = env.LOGIN_REQUIRED

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "allauth",
    "allauth.account",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.openid_connect",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "django_htmx",
    "csp",
    "pricing",
    "planner",
]

MIDDLEWARE = [
    "planner.web.middleware.RequestLog",
    "planner.web.middleware.Probes",
    "django.middleware.security.SecurityMiddleware",
    "django.middleware.gzip.GZipMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "planner.web.middleware.PrivatePages",
    "planner.web.middleware.TypedText",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "planner.web.middleware.UploadLimit",
    "planner.web.middleware.WorkBudget",
]

ROOT_URLCONF = "planner.urls"
WSGI_APPLICATION = "planner.wsgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "planner.web.common.views.page",
            ],
            "builtins": [
                "planner.web.common.chart_svg",
                "planner.web.common.formatting",
                "planner.web.common.forms",
                "planner.web.market.sentences",
                "planner.web.team.sentences",
            ],
        },
    }
]

DATABASES = {
    "default": connect_database(env.DATABASE_URL or f"sqlite:///{DATA_DIR / 'db.sqlite3'}")
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

AUTHENTICATION_BACKENDS = [
    "django.contrib.auth.backends.ModelBackend",
    "allauth.account.auth_backends.AuthenticationBackend",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}Validator"}
    for name in ("UserAttributeSimilarity", "MinimumLength", "CommonPassword", "NumericPassword")
]
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "/"
LOGOUT_REDIRECT_URL = "/"
SIGNUP_OPEN = DEBUG if env.SIGNUP_OPEN is None else env.SIGNUP_OPEN
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_LOGIN_METHODS = {"username", "email"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "email", "password1*", "password2*"]
ACCOUNT_RATE_LIMITS = {"login": "100/m/ip", "login_failed": "5/5m/key"}
"""An address may be that of an office: wrong passwords count for the account alone."""
MFA_SUPPORTED_TYPES = ["totp", "recovery_codes", "webauthn"]
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_WEBAUTHN_ALLOW_INSECURE_ORIGIN = DEBUG  # On http://localhost while developing.
MFA_ALLOW_UNVERIFIED_EMAIL = True
ACCOUNT_ADAPTER = "planner.web.common.adapters.AccountAdapter"
SOCIALACCOUNT_ADAPTER = "planner.web.common.adapters.CompanyAdapter"
MESSAGE_TAGS = {message_levels.ERROR: "danger"}
OIDC_ORIGINS = [
    f"{url.scheme}://{url.netloc}" for url in [urlsplit(env.OIDC_SERVER_URL)] if url.netloc
]
SOCIALACCOUNT_PROVIDERS = {
    "openid_connect": {
        "APPS": [
            {
                "provider_id": "company",
                "name": "Company account",
                "client_id": env.OIDC_CLIENT_ID,
                "secret": env.OIDC_CLIENT_SECRET,
                "settings": {"server_url": env.OIDC_SERVER_URL},
            }
        ]
        if env.OIDC_SERVER_URL
        else []
    }
}

OIDC_GROUPS = env.OIDC_GROUPS
SOCIALACCOUNT_ONLY = env.SSO_ONLY
SOCIALACCOUNT_EMAIL_VERIFICATION = "none"
if not SOCIALACCOUNT_ONLY:  # The company's sign-in asks for the second factor itself.
    INSTALLED_APPS.append("allauth.mfa")

LANGUAGE_CODE = "en-us"
TIME_ZONE = "UTC"
USE_TZ = True
USE_I18N = False

STATIC_URL = "/static/"
STATIC_ROOT = DATA_DIR / "staticfiles"
NODE_MODULES = BASE_DIR / "node_modules"
FRONT_END_FILES = {
    "tabler": (
        NODE_MODULES / "@tabler/core/dist",
        ("css/tabler.min.css", "css/tabler.min.css.map"),
    ),
    "htmx": (NODE_MODULES / "htmx.org/dist", ("htmx.min.js",)),
}
STATICFILES_DIRS = [BASE_DIR / "static"]
STATICFILES_FINDERS = [
    "django.contrib.staticfiles.finders.FileSystemFinder",
    "django.contrib.staticfiles.finders.AppDirectoriesFinder",
    "planner.web.common.front_end.FrontEndFinder",
]
STATIC_IS_COLLECTED = not DEBUG and is_collected(
    STATIC_ROOT,
    [
        *STATICFILES_DIRS,
        *(folder / file for folder, files in FRONT_END_FILES.values() for file in files),
    ],
)
WHITENOISE_USE_FINDERS = not STATIC_IS_COLLECTED
WHITENOISE_AUTOREFRESH = DEBUG
STORAGES = {
    "staticfiles": {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
        if DEBUG
        else "planner.web.common.front_end.CollectedFiles",
        "OPTIONS": {"file_permissions_mode": 0o644, "directory_permissions_mode": 0o755},
    }
}
EMAIL_TIMEOUT = 10
EMAIL_BACKEND = choose_mail_backend(env.EMAIL_URL, DEBUG)
globals().update(connect_mail_server(env.EMAIL_URL))
DEFAULT_FROM_EMAIL = env.DEFAULT_FROM_EMAIL

SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SESSION_COOKIE_HTTPONLY = True
X_FRAME_OPTIONS = "DENY"
if not DEBUG:
    SECURE_SSL_REDIRECT = True
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    SECURE_HSTS_SECONDS = 31_536_000
    SECURE_HSTS_PRELOAD = SECURE_HSTS_INCLUDE_SUBDOMAINS = env.SECURE_HSTS_PRELOAD
    SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021"]  # An operator's choice.
    SESSION_COOKIE_SECURE = True
    CSRF_COOKIE_SECURE = True
_FROM_HERE = ("default-src", "script-src", "style-src", "font-src", "connect-src", "base-uri")
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        **{name: [SELF] for name in _FROM_HERE},
        "img-src": [SELF, "data:"],
        "object-src": [NONE],
        "form-action": [SELF, *OIDC_ORIGINS],
        "frame-ancestors": [NONE],
    }
}

NUM_PROXIES = env.NUM_PROXIES
REST_FRAMEWORK = {
    "DEFAULT_SCHEMA_CLASS": "planner.api.schema.PlannerSchema",
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "planner.api.callers.BearerAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["planner.api.callers.MarketAccess"],
    "DEFAULT_THROTTLE_CLASSES": ["planner.api.callers.PerMinute"],
    "DEFAULT_RENDERER_CLASSES": ["planner.api.media.AnswerRenderer"],
    "DEFAULT_PARSER_CLASSES": ["planner.api.media.GuardedJSONParser"],
    "DEFAULT_PAGINATION_CLASS": "pricing.api.pages.CursorPages",
    "DEFAULT_METADATA_CLASS": None,
    "EXCEPTION_HANDLER": "planner.api.media.exception_handler",
    "NUM_PROXIES": NUM_PROXIES,
}
API_MAX_BODY_BYTES = 1_000_000
API_MAX_UPLOAD_BYTES = 64_000_000
API_REQUESTS_PER_MINUTE = 600
API_ANONYMOUS_REQUESTS_PER_MINUTE = 300
WORK_ANONYMOUS = 10_000_000
WORK_SIGNED_IN = 12_000_000
WORK_JOB = 100_000_000
JOBS_PER_PERSON = 10
JOBS_PER_TEAM = 30
JOBS_PER_SERVER = 300
WEBHOOK_ALLOWED_NETWORKS = env.WEBHOOK_ALLOWED_NETWORKS
SPECTACULAR_SETTINGS = {
    "TITLE": "GPU cost planner",
    "VERSION": "1",
    "OAS_VERSION": "3.1.0",
    "SERVE_INCLUDE_SCHEMA": False,
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "REDOC_DIST": "SIDECAR",
    "POSTPROCESSING_HOOKS": ["planner.api.schema.describe_fields"],
}

CELERY_BROKER_URL = env.CELERY_BROKER_URL
JOB_QUEUES = ("work", "short")
"""Jobs, and what takes seconds: deliveries, looking after the jobs."""
TASKS_INLINE = False
"""Tests do each task where it is asked for."""
LOOK_AFTER_SECONDS = 10.0
"""How often somebody looks for what no process is at."""
CACHE_URL = env.CACHE_URL
CACHES = {
    "default": {
        "BACKEND": "django_redis.cache.RedisCache",
        "LOCATION": CACHE_URL,
        "OPTIONS": {
            "SOCKET_CONNECT_TIMEOUT": 1,
            "SOCKET_TIMEOUT": 1,
            "IGNORE_EXCEPTIONS": True,
            "LOG_IGNORED_EXCEPTIONS": True,
        },
    }
    if CACHE_URL
    else {
        "BACKEND": "django.core.cache.backends.locmem.LocMemCache",
        "OPTIONS": {"MAX_ENTRIES": 100_000},
    }
}

PRICE_REFRESH_SCHEDULE = env.PRICE_REFRESH_SCHEDULE
PRICE_REFRESH_JITTER_SECONDS = 300
PRICES_AMBER_AFTER_DAYS = 90
PRICES_RED_AFTER_DAYS = 365
SPOT_PRICES_AMBER_AFTER_DAYS = 7
SPOT_PRICES_RED_AFTER_DAYS = 30

HOUSEKEEPING_SCHEDULE = "40 2 * * *"
RETAIN_JOBS_DAYS = 30
RETAIN_DELIVERIES_DAYS = 90
RETAIN_INVITATIONS_DAYS = 90
RETAIN_QUARANTINED_BATCHES_DAYS = 90
RETAIN_REFRESH_RUNS_DAYS = 400

LOG_FORMAT = env.LOG_FORMAT
LOGGING = configure_logging(LOG_FORMAT, env.LOG_LEVEL)
METRICS_TOKEN = env.METRICS_TOKEN
METRICS_PORT = env.METRICS_PORT
PROMETHEUS_MULTIPROC_DIR = env.PROMETHEUS_MULTIPROC_DIR
