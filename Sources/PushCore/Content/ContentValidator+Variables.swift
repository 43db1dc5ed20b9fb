extension ContentValidator {
    mutating func checkVariables(_ entries: [JSONEntry], _ parent: String, _ platform: Platform) {
        checkDuplicates(entries, under: parent)
        for entry in entries {
            let path = Self.path(parent, entry.name)
            if entry.name.isEmpty { add(path, "a variable has no name", "give it a name") }
            if Self.isReserved(entry.name, platform) {
                add(path, "the name is reserved by the gateway or by tracking", "choose another name")
            }
            if platform == .android, entry.value == .null {
                add(path, "it is null, and FCM's data has only strings", "leave it out or write \"\"")
            }
            checkTemplates(entry.value, path)
        }
    }

    /// Checks every text and number in a value, however deep it lies, and that no object names an entry twice.
    mutating func checkTemplates(_ value: JSONValue, _ path: String) {
        switch value {
        case .string(let text): checkTemplate(text, path)
        case .array(let elements): for element in elements { checkTemplates(element, path) }
        case .object(let entries):
            checkDuplicates(entries, under: path)
            for entry in entries { checkTemplates(entry.value, path) }
        case .number(let digits):
            // Gateways and apps read numbers as doubles, and refuse the whole payload for one that is none.
            if Double(digits)?.isFinite != true {
                add(path, "\(Self.short(digits)) is too large for a number", "write it as a string")
            }
        case .null, .boolean: break
        }
    }

    /// Names that a variable cannot have: the ids of tracking, APNs' own key, and FCM's reserved words (FCM v1,
    /// `Message.data`).
    private static func isReserved(_ name: String, _ platform: Platform) -> Bool {
        reservedNames(platform).contains(name) || reservedPrefixes(platform).contains { name.hasPrefix($0) }
    }

    static func reservedNames(_ platform: Platform) -> [String] {
        [PayloadTemplate.messageIDKey, PayloadTemplate.deliveryIDKey]
            + (platform == .ios ? ["aps"] : ["from", "message_type"])
    }

    /// What such a name begins with.
    static func reservedPrefixes(_ platform: Platform) -> [String] {
        platform == .ios ? [] : ["google.", "gcm.notification."]
    }
}
