/// What the keys of a content mean, in the languages of the console. English is the content's own (``ContentField/summary``), by which the
/// others are found, so that none stays behind when it changes.
enum ContentHints {
    /// A hint in German and in French.
    typealias Hint = (german: String, french: String)

    /// The hint of an English one in a language; the English one where there is no other.
    static func text(_ english: String, in language: Language) -> String {
        guard let hint = all[english] else { return english }
        return switch language {
        case .english: english
        case .german: hint.german
        case .french: French.spaced(hint.french)
        }
    }

    static let all: [String: Hint] = texts.merging(looks) { first, _ in first }.merging(ways) { first, _ in first }
        .merging(templates) { first, _ in first }

    /// What is said.
    private static let texts: [String: Hint] = [
        "The title.": ("Der Titel.", "Le titre."),
        "The key of the title in the app's own texts.": (
            "Der Schlüssel des Titels in den eigenen Texten der App.",
            "La clé du titre dans les textes de l’application."
        ),
        "What stands for the placeholders of that text.": (
            "Was für die Platzhalter dieses Textes steht.", "Ce qui remplace les paramètres de ce texte."
        ),
        "The line below the title.": ("Die Zeile unter dem Titel.", "La ligne sous le titre."),
        "The key of the subtitle in the app's own texts.": (
            "Der Schlüssel des Untertitels in den eigenen Texten der App.",
            "La clé du sous-titre dans les textes de l’application."
        ),
        "The message itself.": ("Die Nachricht selbst.", "Le message lui-même."),
        "The key of the message in the app's own texts.": (
            "Der Schlüssel der Nachricht in den eigenen Texten der App.",
            "La clé du message dans les textes de l’application."
        ),
        "The key of the action button's label in the app's own texts (before iOS 10).": (
            "Der Schlüssel der Beschriftung der Schaltfläche in den eigenen Texten der App (vor iOS 10).",
            "La clé du libellé du bouton d’action dans les textes de l’application (avant iOS 10)."
        ),
        "The address of an image.": ("Die Adresse eines Bildes.", "L’adresse d’une image."),
        "The address of an image or a film that the app's extension loads; implies mutable_content.": (
            "Die Adresse eines Bildes oder Films, den die Erweiterung der App lädt; schließt mutable_content ein.",
            "L’adresse d’une image ou d’un film que l’extension de l’application charge ; implique mutable_content."
        ),
        "What accessibility services read out.": (
            "Was Bedienungshilfen vorlesen.", "Ce que lisent les services d’accessibilité."
        ),
        "When what it tells of takes place.": (
            "Wann stattfindet, wovon die Nachricht handelt.", "Quand a lieu ce dont parle le message."
        ),
        "Everything else in JSON, such as {\"aps\": {…}} or {\"message\": {…}}: see Config/content.md.": (
            "Alles Übrige in JSON, etwa {\"aps\": {…}} oder {\"message\": {…}}: siehe Config/content.md.",
            "Tout le reste en JSON, par exemple {\"aps\": {…}} ou {\"message\": {…}} : voir Config/content.md."
        ),
        "a text": ("ein Text", "un texte"),
        "a whole number": ("eine ganze Zahl", "un nombre entier"),
        "a number": ("eine Zahl", "un nombre"),
        "true or false": ("true oder false", "true ou false"),
        "a URL": ("eine Adresse (URL)", "une adresse (URL)"),
    ]

    /// How it looks and sounds.
    private static let looks: [String: Hint] = [
        "The app's image to show while it starts.": (
            "Das Bild der App, das während ihres Starts zu sehen ist.",
            "L’image de l’application affichée pendant son démarrage."
        ),
        "The number at the app's icon; 0 removes it, an empty text leaves it as it is.": (
            "Die Zahl am Symbol der App; 0 entfernt sie, ein leerer Text lässt sie, wie sie ist.",
            "Le nombre sur l’icône de l’application ; 0 l’enlève, un texte vide le laisse tel quel."
        ),
        "The number at the app's icon.": ("Die Zahl am Symbol der App.", "Le nombre sur l’icône de l’application."),
        "Whether to remove the number at the app's icon.": (
            "Ob die Zahl am Symbol der App entfernt wird.", "S’il faut enlever le nombre de l’icône de l’application."
        ),
        "The name of the sound: \"default\", or one of the app's own files.": (
            "Der Name des Tons: „default“ oder eine Datei der App.",
            "Le nom du son : « default », ou un fichier de l’application."
        ),
        "The sound: \"default\", or one of the app's own files.": (
            "Der Ton: „default“ oder eine Datei der App.", "Le son : « default », ou un fichier de l’application."
        ),
        "The category, which says which buttons are shown.": (
            "Die Kategorie, die bestimmt, welche Schaltflächen erscheinen.",
            "La catégorie, qui détermine les boutons affichés."
        ),
        "What groups notifications that belong together.": (
            "Was zusammengehörende Mitteilungen gruppiert.", "Ce qui regroupe les notifications liées."
        ),
        "How much it may disturb.": ("Wie sehr sie stören darf.", "À quel point elle peut déranger."),
        "Whether it sounds even when the device is muted; Apple has to permit it.": (
            "Ob sie auch auf einem stummen Gerät ertönt; Apple muss das genehmigen.",
            "Si elle sonne même quand l’appareil est muet ; Apple doit l’autoriser."
        ),
        "The volume of a critical sound, from 0 to 100 percent.": (
            "Die Lautstärke eines kritischen Tons, von 0 bis 100 Prozent.",
            "Le volume d’un son critique, de 0 à 100 pour cent."
        ),
        "Its place in the notification summary, from 0 to 1.": (
            "Ihr Platz in der Übersicht der Mitteilungen, von 0 bis 1.",
            "Sa place dans le résumé des notifications, de 0 à 1."
        ),
        "The same from 0 to 100, as Adobe's consoles write it.": (
            "Dasselbe von 0 bis 100, wie Adobe es schreibt.", "La même chose de 0 à 100, comme l’écrit Adobe."
        ),
        "What the app's focus filter compares with its own criteria.": (
            "Was der Fokusfilter der App mit seinen Kriterien vergleicht.",
            "Ce que le filtre de concentration de l’application compare à ses critères."
        ),
        "The app's notification channel.": (
            "Der Benachrichtigungskanal der App.", "Le canal de notification de l’application."
        ),
        "The name of the small icon in the app.": (
            "Der Name des kleinen Symbols in der App.", "Le nom de la petite icône dans l’application."
        ),
        "The color of the icon.": ("Die Farbe des Symbols.", "La couleur de l’icône."),
        "Whether it stays after a click.": (
            "Ob sie nach einem Klick stehen bleibt.", "Si elle reste affichée après un clic."
        ),
        "What of it the lock screen shows.": (
            "Was davon der Sperrbildschirm zeigt.", "Ce qu’en montre l’écran verrouillé."
        ),
        "How prominently it is shown.": ("Wie auffällig sie erscheint.", "Avec quelle importance elle s’affiche."),
        "Whether it stays on this device and is not shown on a watch, say.": (
            "Ob sie auf diesem Gerät bleibt und etwa nicht auf einer Uhr erscheint.",
            "Si elle reste sur cet appareil, sans paraître sur une montre par exemple."
        ),
        "Whether it has the device's sound.": ("Ob sie den Ton des Geräts hat.", "Si elle a le son de l’appareil."),
        "Whether it vibrates as the device does.": (
            "Ob sie vibriert wie das Gerät.", "Si elle vibre comme l’appareil."
        ),
        "Whether it blinks as the device does.": ("Ob sie blinkt wie das Gerät.", "Si elle clignote comme l’appareil."),
        "Seconds of rest and of vibration in turn.": (
            "Sekunden der Ruhe und der Vibration im Wechsel.", "Secondes de repos et de vibration, en alternance."
        ),
        "Whether it is shown even if another app replaces the FCM SDK's.": (
            "Ob sie erscheint, auch wenn eine andere App die des FCM-SDKs ersetzt.",
            "Si elle s’affiche même quand une autre application remplace celle du SDK FCM."
        ),
        "Whether FCM may show it for the app.": (
            "Ob FCM sie anstelle der App anzeigen darf.", "Si FCM peut l’afficher à la place de l’application."
        ),
    ]

    /// What it does, and how it gets there.
    private static let ways: [String: Hint] = [
        "The window of the app to bring forward when it is opened.": (
            "Das Fenster der App, das beim Öffnen nach vorn kommt.",
            "La fenêtre de l’application à mettre au premier plan à l’ouverture."
        ),
        "Whether the app's notification service extension gets it first, to load media for example.": (
            "Ob die Erweiterung der App sie zuerst bekommt, etwa um Medien zu laden.",
            "Si l’extension de l’application la reçoit d’abord, par exemple pour charger des médias."
        ),
        "Whether to wake the app.": ("Ob die App geweckt wird.", "S’il faut réveiller l’application."),
        "Whether nothing is shown and the app is only woken.": (
            "Ob nichts erscheint und die App nur geweckt wird.",
            "Si rien ne s’affiche et que l’application est seulement réveillée."
        ),
        "The address that the app opens on a click.": (
            "Die Adresse, die die App bei einem Klick öffnet.", "L’adresse que l’application ouvre au clic."
        ),
        "What a click opens: an intent filter, or the address of a rich template.": (
            "Was ein Klick öffnet: ein Intent-Filter oder die Adresse einer Rich-Vorlage.",
            "Ce qu’ouvre un clic : un filtre d’intention, ou l’adresse d’un modèle enrichi."
        ),
        "10 at once, 5 when it suits the device's battery, 1 without ever waking the device.": (
            "10 sofort, 5 wenn es dem Akku des Geräts passt, 1 ohne das Gerät je zu wecken.",
            "10 immédiatement, 5 quand la batterie le permet, 1 sans jamais réveiller l’appareil."
        ),
        "Whether it may wake the device.": ("Ob sie das Gerät wecken darf.", "Si elle peut réveiller l’appareil."),
        "How long APNs keeps it for a device that is off; 0 is one attempt; if unset, as long as the delivery is valid.":
            (
                "Wie lange APNs sie für ein ausgeschaltetes Gerät aufhebt; 0 ist ein Versuch, ohne Angabe so lange, wie der Versand gilt.",
                "Combien de secondes APNs la garde pour un appareil éteint ; 0 : une seule tentative ; sans valeur, tant que l’envoi est valable."
            ),
        "How long FCM keeps it for a device that is off; 0 is one attempt; if unset, as long as the delivery is valid.":
            (
                "Wie lange FCM sie für ein ausgeschaltetes Gerät aufhebt; 0 ist ein Versuch, ohne Angabe so lange, wie der Versand gilt.",
                "Combien de secondes FCM la garde pour un appareil éteint ; 0 : une seule tentative ; sans valeur, tant que l’envoi est valable."
            ),
        "What makes a later notification replace an earlier one; at most 64 bytes.": (
            "Woran eine spätere Mitteilung eine frühere ersetzt; höchstens 64 Byte.",
            "Ce qui fait qu’une notification en remplace une plus ancienne ; 64 octets au plus."
        ),
        "What makes a later notification replace an earlier one in the drawer.": (
            "Woran eine spätere Benachrichtigung eine frühere in der Liste ersetzt.",
            "Ce qui fait qu’une notification en remplace une plus ancienne dans le volet."
        ),
        "What makes a later message replace an earlier one that waits; four at a time.": (
            "Woran eine spätere Nachricht eine frühere ersetzt, die noch wartet; vier zugleich.",
            "Ce qui fait qu’un message en remplace un plus ancien qui attend ; quatre à la fois."
        ),
        typeHint: (
            "Die Art des Push; ohne sie entscheidet der Inhalt. „mdm“ gibt es nicht: Solche Pushs sendet ein Server der "
                + "Geräteverwaltung mit eigenem Zertifikat, und sie tragen keinen Inhalt.",
            "Le type de push ; sans lui, le contenu décide. « mdm » n’existe pas : un serveur de gestion d’appareils envoie ces "
                + "push avec son propre certificat, et ils ne portent aucun contenu."
        ),
        kindHint: (
            "Eine Datennachricht zeigt die App an: Titel, Text und click_action sind title, _msg und url neben den Variablen. Eine "
                + "Benachrichtigung (notification) zeigt Android selbst an.",
            "Un message de données est affiché par l’application : titre, texte et click_action y sont title, _msg et url, à côté des "
                + "variables. Une notification est affichée par Android même."
        ),
        "The only app that may get it.": (
            "Die einzige App, die sie bekommen darf.", "La seule application qui peut la recevoir."
        ),
        "Whether it may arrive before the device is first unlocked.": (
            "Ob sie ankommen darf, bevor das Gerät zum ersten Mal entsperrt ist.",
            "Si elle peut arriver avant le premier déverrouillage de l’appareil."
        ),
        "Whether it may arrive over a narrow network.": (
            "Ob sie über ein schmales Netz ankommen darf.", "Si elle peut arriver par un réseau à bas débit."
        ),
        "Whether it may arrive over a restricted satellite network.": (
            "Ob sie über ein beschränktes Satellitennetz ankommen darf.",
            "Si elle peut arriver par un réseau satellite restreint."
        ),
        "The label of FCM's own statistics: at most 50 letters, digits and -_.~%.": (
            "Das Etikett in der Statistik von FCM: höchstens 50 Buchstaben, Ziffern und -_.~%.",
            "L’étiquette des statistiques de FCM : au plus 50 lettres, chiffres et -_.~%."
        ),
        "Whether FCM only checks it and delivers nothing.": (
            "Ob FCM sie nur prüft und nichts zustellt.", "Si FCM la vérifie seulement, sans rien livrer."
        ),
    ]

    /// What a rich template says.
    private static let templates: [String: Hint] = [
        "Which template it is.": ("Welche Vorlage es ist.", "De quel modèle il s’agit."),
        "The version of the payload.": ("Die Version der Nutzdaten.", "La version du contenu envoyé."),
        "The title when it is unfolded.": ("Der Titel, wenn sie aufgeklappt ist.", "Le titre quand elle est dépliée."),
        "The message when it is unfolded.": (
            "Die Nachricht, wenn sie aufgeklappt ist.", "Le message quand elle est dépliée."
        ),
        "The color of the title.": ("Die Farbe des Titels.", "La couleur du titre."),
        "The color of the message.": ("Die Farbe der Nachricht.", "La couleur du message."),
        "The color of the background.": ("Die Farbe des Hintergrunds.", "La couleur du fond."),
        "Whether the images change by themselves.": (
            "Ob die Bilder von selbst wechseln.", "Si les images défilent d’elles-mêmes."
        ),
        "How the images stand.": ("Wie die Bilder angeordnet sind.", "La disposition des images."),
        "The images.": ("Die Bilder.", "Les images."),
        "The address of the image.": ("Die Adresse des Bildes.", "L’adresse de l’image."),
        "Its caption.": ("Die Bildunterschrift.", "Sa légende."),
        "What a click on it opens.": ("Was ein Klick darauf öffnet.", "Ce qu’ouvre un clic dessus."),
        "The title after the time is up.": ("Der Titel nach Ablauf der Zeit.", "Le titre une fois le temps écoulé."),
        "The message after the time is up.": (
            "Die Nachricht nach Ablauf der Zeit.", "Le message une fois le temps écoulé."
        ),
        "The message after the time is up, when it is unfolded.": (
            "Die aufgeklappte Nachricht nach Ablauf der Zeit.", "Le message déplié, une fois le temps écoulé."
        ),
        "The image after the time is up.": ("Das Bild nach Ablauf der Zeit.", "L’image une fois le temps écoulé."),
        "How many seconds the timer runs; goes before timer_end.": (
            "Wie viele Sekunden der Timer läuft; geht vor timer_end.",
            "La durée du minuteur en secondes ; l’emporte sur timer_end."
        ),
        "When the time is up, in seconds since 1970.": (
            "Wann die Zeit abläuft, in Sekunden seit 1970.", "L’échéance, en secondes depuis 1970."
        ),
        "The color of the timer.": ("Die Farbe des Timers.", "La couleur du minuteur."),
        "The address or name of the large icon.": (
            "Die Adresse oder der Name des großen Symbols.", "L’adresse ou le nom de la grande icône."
        ),
        "What click_action is.": ("Was click_action ist.", "La nature de click_action."),
        "Buttons below the message.": ("Schaltflächen unter der Nachricht.", "Les boutons sous le message."),
        "Its label.": ("Die Beschriftung.", "Son libellé."),
        "What it opens.": ("Was sie öffnet.", "Ce qu’il ouvre."),
        "What uri is.": ("Was uri ist.", "La nature de uri."),
        "The label of a button that brings it again later.": (
            "Die Beschriftung einer Schaltfläche, die sie später wieder bringt.",
            "Le libellé d’un bouton qui la rappelle plus tard."
        ),
        "When that is, in seconds since 1970.": (
            "Wann das ist, in Sekunden seit 1970.", "Le moment du rappel, en secondes depuis 1970."
        ),
        "After how many seconds that is.": ("Nach wie vielen Sekunden das ist.", "Le délai du rappel, en secondes."),
        "The name of the intent by which the app gets the answer.": (
            "Der Name des Intents, mit dem die App die Antwort bekommt.",
            "Le nom de l’intention par laquelle l’application reçoit la réponse."
        ),
        "What stands in the box before something is written.": (
            "Was im Feld steht, bevor etwas geschrieben ist.", "Ce qu’affiche le champ avant toute saisie."
        ),
        "The message after the answer.": ("Die Nachricht nach der Antwort.", "Le message après la réponse."),
        "The image after the answer.": ("Das Bild nach der Antwort.", "L’image après la réponse."),
        "The buttons.": ("Die Schaltflächen.", "Les boutons."),
        "Its image.": ("Das Bild dazu.", "Son image."),
        "The image of the button that closes it.": (
            "Das Bild der Schaltfläche, die sie schließt.", "L’image du bouton qui la ferme."
        ),
        "The label of the button.": ("Die Beschriftung der Schaltfläche.", "Le libellé du bouton."),
        "What the button opens.": ("Was die Schaltfläche öffnet.", "Ce qu’ouvre le bouton."),
        "The color of the button.": ("Die Farbe der Schaltfläche.", "La couleur du bouton."),
        "The color of the button's label.": ("Die Farbe der Beschriftung.", "La couleur du libellé du bouton."),
        "How the products stand.": ("Wie die Produkte angeordnet sind.", "La disposition des produits."),
        "The products.": ("Die Produkte.", "Les produits."),
        "The product.": ("Das Produkt.", "Le produit."),
        "What it is.": ("Was es ist.", "Ce que c’est."),
        "Its price.": ("Der Preis.", "Son prix."),
        "The icon of a rating that is not chosen.": (
            "Das Symbol einer Bewertung, die nicht gewählt ist.", "L’icône d’une note qui n’est pas choisie."
        ),
        "The icon of the rating that is chosen.": (
            "Das Symbol der gewählten Bewertung.", "L’icône de la note choisie."
        ),
        "One for each rating, the lowest first.": (
            "Eine für jede Bewertung, die niedrigste zuerst.", "Une par note, la plus basse d’abord."
        ),
        "What the rating opens.": ("Was die Bewertung öffnet.", "Ce qu’ouvre la note."),
        "What is shown of it before it is unfolded.": (
            "Was davon zu sehen ist, bevor sie aufgeklappt wird.", "Ce qui s’affiche avant qu’elle soit dépliée."
        ),
    ]

    private static let typeHint =
        "The type of push; without it the content decides. There is no \"mdm\": a device management server sends such pushes with a "
        + "certificate of its own, and they carry no content."
    private static let kindHint =
        "A data message is shown by the app: its title, body and click_action are title, _msg and url beside the variables. A "
        + "notification message is shown by Android itself."
}
