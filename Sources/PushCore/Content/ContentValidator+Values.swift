extension ContentValidator {
    /// Checks one value against what its key asks for.
    mutating func check(_ value: JSONValue, of key: ContentKey, _ path: String, _ platform: Platform) {
        switch (key.kind, value) {
        case (.text, .string(let text)), (.textOrGroup, .string(let text)):
            checkTemplate(text, path)
        case (.texts, .array(let elements)):
            checkTexts(elements, path)
        case (.boolean, .boolean):
            break
        case (.integer(let range), .number(let digits)), (.personalisedInteger(let range), .number(let digits)):
            checkInteger(digits, range, path)
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
            if Int64(digits).map(numbers.contains) != true {
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
                "write at most \(Self.longestLabel) letters, digits and -_.~%",
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
                add(path, "one of its elements is \(element.kindName)", "write strings only")
            }
        }
    }

    private mutating func checkInteger(_ digits: String, _ range: ClosedRange<Int64>, _ path: String) {
        // Int64 takes a plus sign, which neither JSON nor the rendering of a message does.
        guard digits.utf8.first == UInt8(ascii: "+") || Int64(digits).map(range.contains) != true else { return }
        add(
            path,
            "\(Self.short(digits)) is out of range",
            "write a whole number from \(range.lowerBound) to \(range.upperBound)"
        )
    }

    /// Checks a text that is to give a number: one that is the same for everyone is known now.
    private mutating func checkNumberText(_ text: String, _ range: ClosedRange<Int64>, _ path: String) {
        guard let template = try? TextTemplate(text), let literal = template.literalText else {
            return checkTemplate(text, path)
        }
        if !literal.isEmpty { checkInteger(literal, range, path) }
    }

    /// FCM's durations have at most nanoseconds and no exponent (protobuf, JSON mapping of `Duration`).
    private mutating func checkSeconds(_ digits: String, _ path: String) {
        let fraction = digits.split(separator: ".", omittingEmptySubsequences: false).dropFirst().first ?? ""
        let isPlain = digits.utf8.allSatisfy { $0 == UInt8(ascii: ".") || (0x30...0x39).contains($0) }
        guard !isPlain || fraction.utf8.count > 9 || digits.utf8.count > 20 else { return }
        add(
            path,
            "\(Self.short(digits)) is no time in seconds",
            "write seconds, with at most nine digits behind the point"
        )
    }

    /// Checks the form of a text unless fields may still change it.
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
