extension ContentValidator {
    /// Checks one value against what its key asks for.
    mutating func check(_ value: JSONValue, of key: ContentKey, _ platform: Platform) {
        let path = Self.path(platform.rawValue, key.name)
        switch (key.kind, value) {
        case (.text, .string(let text)):
            checkTemplate(text, path)
        case (.boolean, .boolean):
            break
        case (.integer(let range), .number(let digits)):
            if Int64(digits).map(range.contains) != true {
                add(
                    path,
                    "\(digits) is out of range",
                    "write a whole number from \(range.lowerBound) to \(range.upperBound)"
                )
            }
        case (.number(let range), .number(let digits)):
            if Double(digits).map(range.contains) != true {
                add(path, "\(digits) is out of range", "write a number from \(range.lowerBound) to \(range.upperBound)")
            }
        case (.choice(let words), .string(let word)):
            checkChoice(word, among: words, path)
        case (.integerChoice(let numbers), .number(let digits)):
            if Int64(digits).map(numbers.contains) != true {
                add(path, "\(digits) is not allowed", "write \(Self.list(numbers.map(String.init)))")
            }
        case (.variables, .object(let entries)):
            checkVariables(entries, platform)
        default:
            add(path, "it is \(value.kindName)", "write \(Self.expectation(key.kind))")
        }
    }

    private mutating func checkTemplate(_ text: String, _ path: String) {
        do throws(TextTemplate.SyntaxError) {
            _ = try TextTemplate(text)
        } catch {
            add(path, error.cause, error.remedy)
        }
    }

    private mutating func checkChoice(_ word: String, among words: [String], _ path: String) {
        if !words.contains(word) { add(path, "\"\(word.prefix(64))\" is not allowed", "write \(Self.list(words))") }
    }

    private mutating func checkVariables(_ entries: [JSONEntry], _ platform: Platform) {
        let parent = "\(platform.rawValue).variables"
        var seen: Set<String> = []
        for entry in entries {
            let path = Self.path(parent, entry.name)
            if !seen.insert(entry.name).inserted { add(path, "it is written more than once", "keep one of them") }
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

    /// Checks every text in a variable's value, however deep it lies.
    private mutating func checkTemplates(_ value: JSONValue, _ path: String) {
        switch value {
        case .string(let text): checkTemplate(text, path)
        case .array(let elements): for element in elements { checkTemplates(element, path) }
        case .object(let entries): for entry in entries { checkTemplates(entry.value, path) }
        case .null, .boolean, .number: break
        }
    }

    /// Names that a variable cannot have: the ids of tracking, APNs' own key, and FCM's reserved words (FCM v1,
    /// `Message.data`).
    private static func isReserved(_ name: String, _ platform: Platform) -> Bool {
        if name == PayloadTemplate.messageIDKey || name == PayloadTemplate.deliveryIDKey { return true }
        switch platform {
        case .ios: return name == "aps"
        case .android:
            return name == "from" || name == "message_type" || name.hasPrefix("google.")
                || name.hasPrefix("gcm.notification.")
        }
    }

    private static func expectation(_ kind: ContentKey.Kind) -> String {
        switch kind {
        case .text: "a string"
        case .boolean: "true or false"
        case .integer(let range): "a whole number from \(range.lowerBound) to \(range.upperBound)"
        case .number(let range): "a number from \(range.lowerBound) to \(range.upperBound)"
        case .choice(let words): list(words)
        case .integerChoice(let numbers): list(numbers.map(String.init))
        case .variables: "an object of names and values"
        }
    }

    private static func list(_ words: [String]) -> String {
        guard let last = words.last, words.count > 1 else { return words.first ?? "" }
        return words.dropLast().joined(separator: ", ") + " or " + last
    }
}
