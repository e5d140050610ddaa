"""The almighty of a grid under test, on the database that the environment names."""

from cigri.database import Database
from cigri.installation import database_url
from cigri.runtime.logging_setup import set_up_log
from cigri.settings.loading import load
from modules.almighty import Almighty

if __name__ == "__main__":
    settings = load()
    set_up_log(settings.log)
    Almighty(Database(database_url(settings)), settings).run()
