/// The units of settings in the languages of the console. English is the definitions' own, by which the others are found.
enum SettingUnits {
    /// A unit in a language; the English one where there is no other.
    static func text(_ english: String, in language: Language) -> String {
        guard let unit = all[english] else { return english }
        return switch language {
        case .english: english
        case .german: unit.german
        case .french: unit.french
        }
    }

    static let all: [String: (german: String, french: String)] = [
        "HH:MM:SS": ("HH:MM:SS", "HH:MM:SS"),
        "IP address": ("IP-Adresse", "adresse IP"),
        "KiB": ("KiB", "Kio"),
        "MiB": ("MiB", "Mio"),
        "addresses": ("Adressen", "adresses"),
        "children": ("Kinder", "enfants"),
        "connections": ("Verbindungen", "connexions"),
        "days": ("Tage", "jours"),
        "errors": ("Fehler", "erreurs"),
        "failures": ("Fehlschläge", "échecs"),
        "format": ("Format", "format"),
        "hits": ("Treffer", "hits"),
        "hours": ("Stunden", "heures"),
        "host name or IP address": ("Hostname oder IP-Adresse", "nom d’hôte ou adresse IP"),
        "host names": ("Hostnamen", "noms d’hôte"),
        "level": ("Stufe", "niveau"),
        "libpq connection string or URI": (
            "Verbindungszeichenfolge oder URI von libpq", "chaîne de connexion ou URI de libpq"
        ),
        "messages": ("Nachrichten", "messages"),
        "milliseconds": ("Millisekunden", "millisecondes"),
        "minutes": ("Minuten", "minutes"),
        "name": ("Name", "nom"),
        "outcomes": ("Ergebnisse", "résultats"),
        "parts": ("Teile", "parties"),
        "password": ("Passwort", "mot de passe"),
        "path": ("Pfad", "chemin"),
        "percent": ("Prozent", "pour cent"),
        "port": ("Port", "port"),
        "registrations": ("Registrierungen", "enregistrements"),
        "requests": ("Anfragen", "requêtes"),
        "requests per second": ("Anfragen je Sekunde", "requêtes par seconde"),
        "seconds": ("Sekunden", "secondes"),
        "threads": ("Threads", "threads"),
        "true or false": ("true oder false", "true ou false"),
    ]
}
