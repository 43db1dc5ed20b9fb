import PushCore

extension ContentValidator {
    /// Checks one value against its key.
    mutating func check(_ value: JSONValue, of key: ContentKey, _ path: String, _ platform: Platform) {
        switch (key.kind, value) {
        case (.text, .string(let text)), (.textOrGroup, .string(let text)):
            checkTemplate(text, path)
        case (.texts, .array(let elements)):
            checkTexts(elements, path)
        case (.boolean, .boolean):
            break
        case (.integer(let range), .number(let digits)), (.personalisedInteger(let range), .number(let digits)):
            checkInteger(JSONNumber.whole(digits), digits, range, path)
        case (.personalisedInteger(let range), .string(let text)):
            checkNumberText(text, range, path)
        case (.number(let range), .number(let digits)):
            if Double(digits).map(range.contains) != true {
                add(path, "\(Self.short(digits)) is out of range", "write \(Self.expectation(key.kind))")
            }
        case (.seconds, .number(let digits)):
            checkSeconds(digits, path)
        case (.secondsList, .array(let elements)):
            for element in elements {
                if case .number(let digits) = element {
                    checkSeconds(digits, path)
                } else {
                    addKind(element, key, path)
                }
            }
        case (.choice(let words), .string(let word)):
            if !words.contains(word) {
                add(path, "\"\(Self.short(word))\" is not allowed", "write \(Self.list(words))")
            }
        case (.integerChoice(let numbers), .number(let digits)):
            if JSONNumber.whole(digits).map(numbers.contains) != true {
                add(path, "\(Self.short(digits)) is not allowed", "write \(Self.list(numbers.map(String.init)))")
            }
        case (.color, .string(let text)):
            checkLiteral(text, path, "is not a color", "write it as #rrggbb", where: Self.isColor)
        case (.lightColor, .string(let text)):
            if !Self.isColor(text), !Self.isColorWithOpacity(text) {
                add(path, "\"\(Self.short(text))\" is not a color", "write it as #rrggbb or #rrggbbaa")
            }
        case (.time, .string(let text)):
            checkLiteral(text, path, "is not a time", "write it as 2030-01-31T12:00:00Z", where: Self.isTime)
        case (.label, .string(let text)):
            checkLiteral(
                text,
                path,
                "is not a label",
                "write at most \(Self.maxLabelLength) letters, digits and -_.~%",
                where: Self.isLabel
            )
        case (.word, .string), (.duration, .string), (.durations, .array), (.packageName, .string), (.strings, .object),
            (.message, .object):
            checkFCM(value, of: key, path, platform)
        case (.variables(let platform), .object(let entries)):
            checkVariables(entries, path, platform)
        case (.object, .object):
            checkTemplates(value, path)
        case (.group(let keys), .object(let entries)), (.textOrGroup(let keys), .object(let entries)):
            check(entries, keys: keys, path, platform)
        case (.items(let keys, let count), .array(let elements)):
            checkItems(elements, of: key, keys: keys, count, path, platform)
        case (.template(let platform), .object(let entries)):
            checkTemplate(entries, path, platform)
        default:
            addKind(value, key, path)
        }
    }

    mutating func addKind(_ value: JSONValue, _ key: ContentKey, _ path: String) {
        add(path, "it is \(value.kindName)", "write \(Self.expectation(key.kind))")
    }

    mutating func checkTemplate(_ text: String, _ path: String) {
        do throws(TextTemplate.SyntaxError) {
            _ = try TextTemplate(text)
        } catch {
            add(path, error.cause, error.remedy)
        }
    }

    private mutating func checkTexts(_ elements: [JSONValue], _ path: String) {
        for element in elements {
            if case .string(let text) = element {
                checkTemplate(text, path)
            } else {
                add(path, "one of its elements is \(element.kindName)", "write only strings")
            }
        }
    }

    private mutating func checkInteger(
        _ number: Int64?,
        _ digits: String,
        _ range: ClosedRange<Int64>,
        _ path: String
    ) {
        guard number.map(range.contains) != true else { return }
        add(
            path,
            "\(Self.short(digits)) is out of range",
            "write a whole number from \(range.lowerBound) to \(range.upperBound)"
        )
    }

    /// Checks a text that must result in a number. Only a text without fields can be checked now.
    private mutating func checkNumberText(_ text: String, _ range: ClosedRange<Int64>, _ path: String) {
        guard let template = try? TextTemplate(text), let literal = template.literalText else {
            return checkTemplate(text, path)
        }
        guard !literal.isEmpty else { return }
        // Int64 accepts a plus sign; the rendering of a message does not.
        let number = literal.utf8.first == UInt8(ascii: "+") ? nil : Int64(literal)
        checkInteger(number, literal, range, path)
    }

    /// FCM's durations have at most nine decimal places and no exponent (protobuf, JSON mapping of `Duration`).
    private mutating func checkSeconds(_ digits: String, _ path: String) {
        let fraction = digits.split(separator: ".", omittingEmptySubsequences: false).dropFirst().first ?? ""
        let isPlain = digits.utf8.allSatisfy { $0 == UInt8(ascii: ".") || (0x30...0x39).contains($0) }
        guard !isPlain || fraction.utf8.count > 9 || digits.utf8.count > 20 else { return }
        add(
            path,
            "\(Self.short(digits)) is not a time in seconds",
            "write seconds, with at most nine decimal places"
        )
    }

    /// Checks the form of a text, unless it has fields.
    mutating func checkLiteral(
        _ text: String,
        _ path: String,
        _ cause: String,
        _ remedy: String,
        where isRight: (String) -> Bool
    ) {
        guard let template = try? TextTemplate(text) else { return checkTemplate(text, path) }
        if let literal = template.literalText, !literal.isEmpty, !isRight(literal) {
            add(path, "\"\(Self.short(literal))\" \(cause)", remedy)
        }
    }

    private mutating func checkItems(
        _ elements: [JSONValue],
        of key: ContentKey,
        keys: [ContentKey],
        _ count: ClosedRange<Int>,
        _ path: String,
        _ platform: Platform
    ) {
        if !count.contains(elements.count) {
            let wanted = count.count == 1 ? "\(count.lowerBound)" : "\(count.lowerBound) to \(count.upperBound)"
            add(path, "it has \(elements.count) entries", "write \(wanted)")
        }
        for (index, element) in elements.enumerated() {
            let path = "\(path)[\(index)]"
            guard case .object(let entries) = element else {
                add(path, "it is \(element.kindName)", "write an object")
                continue
            }
            check(entries, keys: keys, path, platform)
            checkLink(ContentSection(platform: platform, entries: entries), link: "uri", type: "type", path)
        }
    }
}

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

    /// Checks every text and number in a value, at any depth, and that no object has the same key twice.
    mutating func checkTemplates(_ value: JSONValue, _ path: String) {
        switch value {
        case .string(let text): checkTemplate(text, path)
        case .array(let elements): for element in elements { checkTemplates(element, path) }
        case .object(let entries):
            checkDuplicates(entries, under: path)
            checkTyped(entries, path)
            for entry in entries { checkTemplates(entry.value, path) }
        case .number(let digits):
            // Gateways and apps read numbers as doubles, and refuse the whole payload if one is out of range.
            if Double(digits)?.isFinite != true {
                add(path, "\(Self.short(digits)) is too large for a number", "write it as a string")
            }
        case .null, .boolean: break
        }
    }

    /// `$number` or `$boolean` must be the only key of its object. A text without fields is checked now.
    private mutating func checkTyped(_ entries: [JSONEntry], _ path: String) {
        guard let entry = entries.first(where: { CheckedTemplate.form($0.name) != nil }) else { return }
        guard entries.count == 1, case .string(let text) = entry.value else {
            add(
                path,
                "\"\(entry.name)\" must be the only key of its object, and its value a string",
                "write only {\"\(entry.name)\": \"{{name}}\"}"
            )
            return
        }
        guard let literal = (try? TextTemplate(text))?.literalText,
            CheckedTemplate.form(entry.name)?.value(Array(literal.utf8)) == nil
        else { return }
        add(
            path,
            "\"\(Self.short(literal))\" is not a value for \(entry.name)",
            "write a text with fields that results in one"
        )
    }

    /// Whether a variable cannot have this name: tracking ids, APNs' own key, and FCM's reserved words (FCM v1,
    /// `Message.data`).
    private static func isReserved(_ name: String, _ platform: Platform) -> Bool {
        reservedNames(platform).contains(name) || reservedPrefixes(platform).contains { name.hasPrefix($0) }
    }

    static func reservedNames(_ platform: Platform) -> [String] {
        [PayloadTemplate.messageIDKey, PayloadTemplate.deliveryIDKey]
            + (platform == .ios ? ["aps"] : ["from", "message_type"])
    }

    /// The prefixes of reserved names.
    static func reservedPrefixes(_ platform: Platform) -> [String] {
        platform == .ios ? [] : ["google.", "gcm.notification."]
    }
}

extension ContentValidator {
    /// Whether a text is an RFC 3339 time that protobuf's `Timestamp` accepts: an existing day, no leap second, and at
    /// most nine decimal places.
    static func isTime(_ text: String) -> Bool {
        var rest = Array(text.utf8)[...]
        guard let year = take(4, "-", from: &rest), let month = take(2, "-", from: &rest),
            let day = take(2, "T", from: &rest), let hour = take(2, ":", from: &rest),
            let minute = take(2, ":", from: &rest), let second = take(2, nil, from: &rest)
        else { return false }
        if rest.first == UInt8(ascii: ".") {
            let fraction = rest.dropFirst().prefix { (0x30...0x39).contains($0) }
            guard (1...9).contains(fraction.count) else { return false }
            rest = rest[fraction.endIndex...]
        }
        return year > 0 && (1...12).contains(month) && (1...days(month, year)).contains(day) && hour < 24 && minute < 60
            && second < 60 && isZone(rest)
    }

    /// Whether a text is `Z`, or an offset in hours and minutes.
    private static func isZone(_ text: ArraySlice<UInt8>) -> Bool {
        if text.elementsEqual("Z".utf8) { return true }
        guard let sign = text.first, sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") else { return false }
        var rest = text.dropFirst()
        guard let hours = take(2, ":", from: &rest), let minutes = take(2, nil, from: &rest) else { return false }
        return rest.isEmpty && hours < 24 && minutes < 60
    }

    /// Takes `count` digits and the character `mark` after them; nil if the text continues differently.
    private static func take(_ count: Int, _ mark: Unicode.Scalar?, from text: inout ArraySlice<UInt8>) -> Int? {
        let digits = text.prefix(count)
        guard digits.count == count, digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        text = text[digits.endIndex...]
        if let mark {
            guard text.first == UInt8(ascii: mark) else { return nil }
            text = text.dropFirst()
        }
        return digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }

    private static func days(_ month: Int, _ year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}
