import PushCore

extension ContentValidator {
    mutating func checkAndroid(_ section: ContentSection, _ path: String) {
        checkImages(section, path)
        checkRichTemplate(section, path)
    }

    /// Checks the addresses of images: Android loads only absolute ones. A rich template's image may also be one of the
    /// app's own.
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
                "is not an image address",
                "write an absolute one, such as https://example.com/image.png",
                where: Self.isWebAddress
            )
        }
    }
}

extension ContentValidator {
    /// Checks a value of a kind that only FCM has.
    mutating func checkFCM(_ value: JSONValue, of key: ContentKey, _ path: String, _ platform: Platform) {
        switch (key.kind, value) {
        case (.word, .string("")), (.duration, .string("")): addKind(value, key, path)
        case (.word(let words), .string(let text)):
            checkLiteral(text, path, "is not allowed", "write \(Self.list(words))") { word in
                words.contains { $0 == word || $0.lowercased() == word }
            }
        case (.duration(let limit), .string(let text)):
            checkLiteral(text, path, "is not such a duration", "write \(Self.expectation(key.kind))") {
                Self.isDuration($0, atMost: limit)
            }
        case (.durations, .array(let elements)):
            for element in elements {
                check(element, of: ContentKey("", .duration(ContentKey.maxDuration), ""), path, platform)
            }
        case (.packageName, .string(let text)):
            checkLiteral(
                text,
                path,
                "is not a package name",
                "write the app's id, such as com.example.app",
                where: Self.isPackageName
            )
        case (.strings, .object(let entries)): checkStrings(entries, path)
        case (.message, .object(let entries)): checkMessage(entries, path, platform)
        default: addKind(value, key, path)
        }
    }

    private mutating func checkStrings(_ entries: [JSONEntry], _ path: String) {
        checkDuplicates(entries, under: path)
        for entry in entries where entry.value != .null {
            if case .string(let text) = entry.value {
                checkTemplate(text, Self.path(path, entry.name))
            } else {
                add(
                    Self.path(path, entry.name),
                    "it is \(entry.value.kindName), and FCM accepts only strings here",
                    "write a string"
                )
            }
        }
    }

    /// Checks the content's raw `message`, which must not have the entries that the engine writes.
    private mutating func checkMessage(_ entries: [JSONEntry], _ path: String, _ platform: Platform) {
        var rest: [JSONEntry] = []
        for entry in entries {
            if ContentKey.ownMessageNames.contains(entry.name) {
                add("\(path).\(entry.name)", "the engine writes it", "leave it out; variables are FCM's data")
            } else {
                rest.append(checkedConfig(entry, path))
            }
        }
        check(rest, keys: ContentKey.fcmMessage, path, platform)
    }

    /// AndroidConfig's own data would replace the message's data (FCM v1, `AndroidConfig.data`), and with it the
    /// tracking ids.
    private mutating func checkedConfig(_ entry: JSONEntry, _ path: String) -> JSONEntry {
        guard entry.name == "android", case .object(let config) = entry.value,
            config.contains(where: { $0.name == "data" })
        else { return entry }
        add("\(path).android.data", "the engine writes it", "leave it out; variables are FCM's data")
        return JSONEntry(name: entry.name, value: .object(config.filter { $0.name != "data" }))
    }

    /// Whether a text has the form of protobuf's `Duration`: seconds with at most nine decimal places, and an `s`.
    static func isDuration(_ text: String, atMost limit: Double) -> Bool {
        guard text.utf8.last == UInt8(ascii: "s"), text.utf8.count <= 24 else { return false }
        let parts = text.dropLast().split(separator: ".", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count),
            parts.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }),
            parts.count == 1 || parts[1].utf8.count <= 9, let seconds = Double(text.dropLast())
        else { return false }
        return seconds <= limit
    }

    /// Whether a text can be the id of an Android app: two or more words separated by dots. Each word starts with a
    /// letter and consists of letters, digits and underscores (Android, "Configure the app module", application id).
    static func isPackageName(_ text: String) -> Bool {
        let words = text.split(separator: ".", omittingEmptySubsequences: false)
        return words.count > 1 && text.utf8.count <= 255
            && words.allSatisfy { word in
                guard let first = word.utf8.first, isLetterOrDigit(first), !(0x30...0x39).contains(first) else {
                    return false
                }
                return word.utf8.allSatisfy { isLetterOrDigit($0) || $0 == UInt8(ascii: "_") }
            }
    }

    /// Whether a text is an absolute web address, from which Android and FCM can load an image.
    static func isWebAddress(_ text: String) -> Bool {
        guard let scheme = ["http://", "https://"].first(where: { text.lowercased().hasPrefix($0) }) else {
            return false
        }
        let rest = text.dropFirst(scheme.count)
        guard let first = rest.first, !"/?#:".contains(first) else { return false }
        return rest.unicodeScalars.allSatisfy { $0.value > 0x20 && $0.value != 0x7F }
    }
}
