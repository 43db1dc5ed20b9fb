extension ContentValidator {
    /// What makes Android show something.
    private static let texts = ["title", "body", "title_loc_key", "body_loc_key"]

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
            for key in display where FCMLayout.dataNames[key] == nil {
                add(
                    "\(path).\(key)",
                    "a data message has title, body, click_action and variables only",
                    "move it into variables, or leave kind out"
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
        checkImages(section, path)
        checkRichTemplate(section, path)
    }

    /// Checks the addresses of images: Android loads nothing else than an absolute one. A rich template's image may be the app's own.
    private mutating func checkImages(_ section: ContentSection, _ path: String) {
        guard !section.has("template") else { return }
        var images = [("\(path).image", section.string("image"))]
        if case .object(let message)? = section["message"] {
            let raw = ContentSection(platform: .android, entries: message)
            images.append(("\(path).message.notification.image", raw.group("notification")?.string("image")))
            images.append(
                (
                    "\(path).message.android.notification.image",
                    raw.group("android")?.group("notification")?.string("image")
                )
            )
        }
        for (place, image) in images {
            guard let image else { continue }
            checkLiteral(
                image,
                place,
                "is no address of an image",
                "write an absolute one, as https://example.com/image.png",
                where: Self.isWebAddress
            )
        }
    }
}
