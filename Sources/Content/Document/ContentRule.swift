import PushCore

/// A combination of keys that a section must not have.
///
/// The rules are data, so that the validator here and the database's check apply the same ones. Only
/// ``ContentValidator`` checks what depends on a message's layout, such as what a raw `aps` shows.
struct ContentRule: Sendable {
    /// The place of the problem, a path within the section; empty for the section as a whole.
    let path: [String]
    let problem: ContentProblem
    /// The rule applies if all of these keys have values. An empty text, list or object is not a value.
    let all: [String]
    /// It applies if one of these keys has a value; empty for no such condition.
    let any: [String]
    /// It applies if none of these keys has a value.
    let none: [String]
    /// It applies if the keys have these values.
    let equal: [(key: String, value: JSONValue)]
    /// It applies if the keys do not have these values.
    let unequal: [(key: String, value: JSONValue)]
    /// It applies if there is a variable with this name; nil for no such condition.
    let variable: String?

    init(
        _ path: [String],
        _ cause: String,
        _ remedy: String,
        all: [String] = [],
        any: [String] = [],
        none: [String] = [],
        equal: [(key: String, value: JSONValue)] = [],
        unequal: [(key: String, value: JSONValue)] = [],
        variable: String? = nil
    ) {
        self.path = path
        problem = ContentProblem(key: path.joined(separator: "."), cause: cause, remedy: remedy)
        self.all = all
        self.any = any
        self.none = none
        self.equal = equal
        self.unequal = unequal
        self.variable = variable
    }

    /// Whether a section breaks the rule.
    func isBroken(by section: ContentSection) -> Bool {
        all.allSatisfy(section.saysSomething) && (any.isEmpty || any.contains(where: section.saysSomething))
            && !none.contains(where: section.saysSomething)
            && equal.allSatisfy { section[$0.key] == $0.value } && !unequal.contains { section[$0.key] == $0.value }
            && (variable.map { name in section.variables.contains { $0.name == name } } ?? true)
    }

    static func rules(_ platform: Platform) -> [ContentRule] {
        switch platform {
        case .ios: ios
        case .android: android
        }
    }
}

extension ContentSection {
    /// Whether a key has a value: an empty text, list or object is not one.
    fileprivate func saysSomething(_ key: String) -> Bool { has(key) && self[key] != .object([]) }
}

extension ContentRule {
    /// The keys that are visible or audible by themselves.
    private static let shownIOS = ["title", "subtitle", "body", "badge", "sound"]
    /// The keys that make a push non-empty.
    private static let meaningfulIOS =
        shownIOS + [
            "title_loc_key", "title_loc_args", "subtitle_loc_key", "subtitle_loc_args", "loc_key", "loc_args",
            "action_loc_key", "launch_image", "clear_badge", "push_type", "template",
        ]
    private static let wakingIOS: [(key: String, value: JSONValue)] = [
        ("silent", .boolean(true)), ("content_available", .boolean(true)),
    ]
    private static let isBackground: [(key: String, value: JSONValue)] = [
        ("push_type", .string(PushType.background.rawValue))
    ]
    static let nothingToShowIOS = (
        cause: "there is nothing to show and nothing to wake the app for",
        remedy: "set one of title, subtitle, body, badge, sound, or content_available for a silent push"
    )
    static let silentShows = (
        cause: "a silent push shows nothing, and this content does", remedy: "remove what is shown, or remove silent"
    )
    static let backgroundShows = (
        cause: "a background push shows nothing, and this content does", remedy: "write \"alert\", or leave it out"
    )
    static let backgroundSleeps = (
        cause: "a background push must wake the app", remedy: "set content_available to true"
    )

    private static let ios: [ContentRule] =
        argumentsNeedKey(["title_loc", "subtitle_loc", "loc"]) + [
            // A raw aps may show something or wake the app; this is known only after the layout.
            ContentRule(
                [],
                nothingToShowIOS.cause,
                nothingToShowIOS.remedy,
                none: meaningfulIOS + ["aps"],
                unequal: wakingIOS
            ),
            ContentRule(
                ["silent"],
                silentShows.cause,
                silentShows.remedy,
                any: shownIOS,
                equal: [("silent", .boolean(true))]
            ),
            ContentRule(
                ["push_type"],
                backgroundShows.cause,
                backgroundShows.remedy,
                any: shownIOS,
                equal: isBackground,
                unequal: [("silent", .boolean(true))]
            ),
            ContentRule(
                ["push_type"],
                backgroundSleeps.cause,
                backgroundSleeps.remedy,
                none: ["aps"],
                equal: isBackground,
                unequal: wakingIOS
            ),
            ContentRule(
                ["relevance_percent"],
                "relevance_score is set, too",
                "keep one of them",
                all: ["relevance_score", "relevance_percent"]
            ),
            ContentRule(
                ["clear_badge"],
                "badge sets a number, too",
                "keep one of them",
                all: ["badge"],
                equal: [("clear_badge", .boolean(true))],
                unequal: [("badge", .number("0"))]
            ),
            ContentRule(
                ["category"],
                "a rich template has the category \(RichTemplateKind.category)",
                "leave it out",
                all: ["template", "category"],
                unequal: [("category", .string(RichTemplateKind.category))]
            ),
        ]
        + ["media_url", "template"].map { key in
            ContentRule(
                ["mutable_content"],
                "\(key) requires it, and it is false",
                "leave it out",
                all: [key],
                equal: [("mutable_content", .boolean(false))]
            )
        }

    /// The keys that make Android show something.
    private static let textsAndroid = ["title", "body", "title_loc_key", "body_loc_key"]
    private static let displayAndroid = ContentKey.notification.map(\.name)
    private static let isData: (key: String, value: JSONValue) = ("kind", .string("data"))
    private static let isNotification: (key: String, value: JSONValue) = ("kind", .string("notification"))

    private static let android: [ContentRule] =
        argumentsNeedKey(["title_loc", "body_loc"]) + [
            ContentRule(
                ["kind"],
                "the app shows a rich template, so its message has only data",
                "write \"data\", or leave it out",
                all: ["template"],
                equal: [isNotification]
            ),
            ContentRule(
                ["kind"],
                "a notification message without title and body shows nothing",
                "set title or body",
                none: textsAndroid + ["template"],
                equal: [isNotification]
            ),
            ContentRule(
                [],
                "there is nothing to show and nothing for the app to read",
                "set title, body or variables, or kind to \"data\" for a message that only wakes the app",
                none: displayAndroid + ["template", "variables", "message"],
                unequal: [isNotification, isData]
            ),
        ]
        + displayAndroid.flatMap(unknownKey)
        + displayAndroid.compactMap { key in
            guard let name = FCMLayout.dataNames[key] else { return nil }
            return ContentRule(
                ["variables", name],
                takenName.cause,
                takenName.remedy,
                all: [key],
                none: ["template"],
                equal: [isData],
                variable: name
            )
        }

    static let takenName = (
        cause: "another key of the content already has this name in the payload", remedy: "keep one of them"
    )

    /// Arguments of a text in the app require its key.
    private static func argumentsNeedKey(_ names: [String]) -> [ContentRule] {
        names.map { name in
            ContentRule(
                ["\(name)_args"],
                "there is no \(name)_key with placeholders for them",
                "write \(name)_key, or remove \(name)_args",
                all: ["\(name)_args"],
                none: ["\(name)_key"]
            )
        }
    }

    /// The rules for a key of a notification in a message that is not one.
    private static func unknownKey(_ key: String) -> [ContentRule] {
        var rules: [ContentRule] = []
        if FCMLayout.templateNames[key] == nil {
            rules.append(
                ContentRule([key], "a rich template does not have it", "remove it", all: ["template", key])
            )
        }
        if FCMLayout.dataNames[key] == nil {
            rules.append(
                ContentRule(
                    [key],
                    "a data message has only title, body, click_action and variables",
                    "move it into variables, or remove kind",
                    all: [key],
                    none: ["template"],
                    equal: [isData]
                )
            )
        }
        if !textsAndroid.contains(key) {
            rules.append(
                ContentRule(
                    [key],
                    "a message without title and body is a data message, which shows nothing",
                    "set title or body, or move it into variables",
                    all: [key],
                    none: textsAndroid + ["template"],
                    unequal: [isNotification, isData]
                )
            )
        }
        return rules
    }
}

/// The rules in the database's form.
extension ContentRule {
    /// The rules for combinations of keys, the rules of inheritance, and the check for unclosed tags: a JSON object.
    static let document = JSONText.compact(
        object([
            (
                "sections",
                object(Platform.allCases.map { ($0.rawValue, .array(rules($0).map(\.json))) })
            ),
            (
                "inheritance",
                object([
                    ("kinds", words(ContentSection.kindKeys)),
                    (
                        "others",
                        object(ContentSection.otherWays.sorted { $0.key < $1.key }.map { ($0.key, words($0.value)) })
                    ),
                ])
            ),
            (
                "field",
                object([
                    ("closed", .string(TextTemplate.closedPattern)), ("problem", .string(TextTemplate.openTag.cause)),
                    ("remedy", .string(TextTemplate.openTag.remedy)),
                ])
            ),
        ])
    )

    private var json: JSONValue {
        let values = { (pairs: [(key: String, value: JSONValue)]) -> JSONValue in
            .array(pairs.map { Self.object([($0.key, $0.value)]) })
        }
        return Self.object([
            ("at", .string(path.map { "/" + $0 }.joined())), ("problem", .string(problem.cause)),
            ("remedy", .string(problem.remedy)), ("all", Self.words(all)), ("any", Self.words(any)),
            ("none", Self.words(none)), ("equal", values(equal)), ("unequal", values(unequal)),
            ("variable", variable.map(JSONValue.string) ?? .null),
        ])
    }

    private static func object(_ entries: [(String, JSONValue)]) -> JSONValue { SchemaWriter.entries(entries) }
    private static func words(_ words: [String]) -> JSONValue { SchemaWriter.words(words) }
}
