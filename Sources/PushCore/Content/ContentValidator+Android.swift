extension ContentValidator {
    /// What makes Android show something.
    private static let texts = ["title", "body", "title_loc_key", "body_loc_key"]
    /// What is no one's to set but the engine's; `data` has the variables.
    private static let ownMessageKeys = ["token", "topic", "condition", "fid", "data"]

    mutating func checkAndroid(_ section: ContentSection, _ path: String, isSound: Bool) {
        let display = ContentKey.notification.map(\.name).filter { section.has($0) }
        if section.has("template") {
            if section.string("kind") == "notification" {
                add(
                    "\(path).kind",
                    "a rich template is shown by the app, so its message has data only",
                    "write \"data\", or leave it out"
                )
            }
            for key in display where FCMLayout.templateNames[key] == nil {
                add("\(path).\(key)", "a rich template does not know it", "leave it out")
            }
        } else if section.string("kind") == "data" {
            for key in display {
                add(
                    "\(path).\(key)",
                    "a data message has variables only",
                    "move it into variables (Adobe's SDK reads title, _msg and url), or leave kind out"
                )
            }
        } else if !section.hasAny(Self.texts) {
            if section.string("kind") == "notification" {
                add("\(path).kind", "a notification message without title and body shows nothing", "set title or body")
            } else if let key = display.first {
                add(
                    "\(path).\(key)",
                    "a message without title and body is a data message, which shows nothing",
                    "set title or body, or move it into variables"
                )
            } else if isSound, section.variables.isEmpty, section.object("message").isEmpty {
                add(
                    path,
                    "there is nothing to show and nothing for the app to read",
                    "set title, body or variables, or kind to \"data\" for a message that only wakes the app"
                )
            }
        }
        for entry in section.object("message") where Self.ownMessageKeys.contains(entry.name) {
            add("\(path).message.\(entry.name)", "the engine writes it", "leave it out; variables are FCM's data")
        }
        // AndroidConfig's own data takes the place of the message's (FCM v1, `AndroidConfig.data`), and so of the ids of tracking.
        if case .object(let config)? = section.object("message").last(where: { $0.name == "android" })?.value,
            config.contains(where: { $0.name == "data" })
        {
            add("\(path).message.android.data", "the engine writes it", "leave it out; variables are FCM's data")
        }
        checkRichTemplate(section, path)
    }
}
