import PushCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What an application declares in addition to its address: variables, sounds, and subscription parameters.
package struct ApplicationDeclarations: Sendable, Hashable {
    /// The values that its code reads from a message.
    package var variables: [ApplicationVariable]
    package var sounds: [ApplicationSound]
    /// The values that its code sends with a registration.
    package var parameters: [SubscriptionParameter]

    /// Creates declarations; names must be unique.
    package init(
        variables: [ApplicationVariable] = [],
        sounds: [ApplicationSound] = [],
        parameters: [SubscriptionParameter] = []
    ) {
        self.variables = variables
        self.sounds = sounds
        self.parameters = parameters
    }

    /// Adds a variable, or replaces the one with its name.
    package mutating func declare(_ variable: ApplicationVariable) {
        variables = variables.filter { $0.name != variable.name } + [variable]
    }

    /// Adds a sound, or replaces the one with its name.
    package mutating func declare(_ sound: ApplicationSound) {
        sounds = sounds.filter { $0.name != sound.name } + [sound]
    }

    /// Adds a subscription parameter, or replaces the one with its name; two parameters cannot share a column, and one
    /// at most is the time zone.
    package mutating func declare(_ parameter: SubscriptionParameter) throws(DeclarationError) {
        if let other = parameters.first(where: { $0.column == parameter.column && $0.name != parameter.name }) {
            throw DeclarationError(
                "subscription parameter \"\(parameter.name)\"",
                "parameter \"\(other.name)\" is already stored in \(parameter.column)",
                "choose another column"
            )
        }
        if parameter.isTimeZone, let other = parameters.first(where: { $0.isTimeZone && $0.name != parameter.name }) {
            throw DeclarationError(
                "subscription parameter \"\(parameter.name)\"",
                "parameter \"\(other.name)\" is already the time zone",
                "mark one of them"
            )
        }
        parameters = parameters.filter { $0.name != parameter.name } + [parameter]
    }

    /// Assigns the values that a device sent under declared names to their columns; any other name is a subscription
    /// parameter.
    package func place(_ given: [String: String]) -> [SubscriptionParameter.Column: String] {
        let columns = Dictionary(parameters.map { ($0.name, $0.column) }, uniquingKeysWith: { first, _ in first })
        var placed: [SubscriptionParameter.Column: String] = [:]
        for (name, value) in given where columns[name] == nil { placed[.parameter(name)] = value }
        // A declared name takes precedence over an undeclared one that equals its column's name.
        for (name, column) in columns { if let value = given[name] { placed[column] = value } }
        return placed
    }
}

/// Declarations as stored in the database: a JSON list of objects for each kind.
extension ApplicationDeclarations {
    /// Reads the lists; throws an error that names the list if one does not have the form that this program writes.
    package init(variables: String, sounds: String, parameters: String) throws(DeclarationError) {
        self.init(
            variables: try Self.read(variables, "variables"),
            sounds: try Self.read(sounds, "sounds"),
            parameters: try Self.read(parameters, "subscription parameters")
        )
    }

    private static func read<Element: Decodable>(
        _ json: String,
        _ thing: String
    ) throws(DeclarationError) -> [Element] {
        do {
            return try JSONBody.decode([Element].self, from: json.utf8)
        } catch {
            throw DeclarationError(
                thing,
                "they are stored in a form that this program does not support",
                "declare them again"
            )
        }
    }

    /// The variables as a JSON list.
    package var variablesJSON: String { Self.write(variables) }
    /// The sounds as a JSON list.
    package var soundsJSON: String { Self.write(sounds) }
    /// The subscription parameters as a JSON list.
    package var parametersJSON: String { Self.write(parameters) }

    /// The elements hold only texts and booleans, so encoding cannot fail.
    private static func write(_ elements: [some Encodable]) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(elements)).map { String(decoding: $0, as: UTF8.self) } ?? "[]"
    }
}

/// Checks of a content against an application's declarations.
extension ApplicationDeclarations {
    /// What the application would not understand in a content: variables that it does not declare, values of another
    /// type, and sounds that it does not have.
    ///
    /// An application that declares no variables accepts all of them; the same holds for sounds. If it declares some,
    /// any other name is a mistake that would go unnoticed on the device, so it is refused before anything is sent.
    package func problems(content json: String, platform: Platform) -> [ContentProblem] {
        guard !variables.isEmpty || !sounds.isEmpty, let root = try? JSONParser.parse(json.utf8) else { return [] }
        var problems: [ContentProblem] = []
        ContentWalk(platform: platform).sections(root) { path, section in
            for entry in section {
                switch (entry.name, entry.value) {
                case ("variables", .object(let given)):
                    problems += given.compactMap { problem($0, path) }
                case ("sound", let value):
                    if let problem = soundProblem(value, path + ".sound") { problems.append(problem) }
                case ("aps", let raw) where platform == .ios:
                    problems += soundProblems(raw, [], path + ".aps")
                case ("message", let raw) where platform == .android:
                    problems += soundProblems(raw, ["android", "notification"], path + ".message")
                default: break
                }
            }
        }
        return problems
    }

    private func problem(_ given: JSONEntry, _ path: String) -> ContentProblem? {
        // The SDK reads it, not the app.
        guard given.name != ApplicationVariable.recall else { return nil }
        guard !variables.isEmpty, given.value != .null else { return nil }
        let key = "\(path).variables.\(given.name)"
        guard let variable = variables.first(where: { $0.name == given.name }) else {
            let names = variables.map(\.name)
            let nearest = NearestName.nearest(to: given.name, among: names).map { "; did you mean \($0)?" } ?? ""
            return ContentProblem(
                key: key,
                cause: "the application does not declare this variable\(nearest)",
                remedy: "use one of \(names.joined(separator: ", ")), or declare it with pushmta app set --variable"
            )
        }
        guard !Self.fits(given.value, variable.type) else { return nil }
        return ContentProblem(
            key: key,
            cause: "it is declared as \(variable.type.words), and the value is not one",
            remedy: "give \(variable.type.example)"
        )
    }

    /// Whether a value has the type. A text with fields passes, because its value is known only when a message is
    /// rendered.
    private static func fits(_ value: JSONValue, _ type: ApplicationVariable.Kind) -> Bool {
        switch value {
        case .null: true
        case .string(let text): text.contains("{{") || type.accepts(text)
        case .number(let digits): type.accepts(digits)
        case .boolean(let flag): type.accepts(flag ? "true" : "false")
        case .array, .object: type == .text
        }
    }

    private func soundProblem(_ value: JSONValue, _ key: String) -> ContentProblem? {
        guard !sounds.isEmpty, let name = Self.soundName(value), !name.contains("{{"), name != "default",
            !sounds.contains(where: { $0.name == name })
        else { return nil }
        let names = sounds.map(\.name)
        let nearest = NearestName.nearest(to: name, among: names).map { "; did you mean \($0)?" } ?? ""
        return ContentProblem(
            key: key,
            cause: "the application does not declare this sound\(nearest)",
            remedy: "use default or one of \(names.joined(separator: ", ")), or declare it with pushmta app set --sound"
        )
    }

    /// The problem of the sound in the raw `aps` or `message` that overrides the payload.
    private func soundProblems(_ raw: JSONValue, _ names: [String], _ path: String) -> [ContentProblem] {
        var value: JSONValue? = raw
        for name in names + ["sound"] {
            guard case .object(let entries)? = value else { return [] }
            value = entries.first { $0.name == name }?.value
        }
        let key = ([path] + names + ["sound"]).joined(separator: ".")
        return value.flatMap { soundProblem($0, key) }.map { [$0] } ?? []
    }

    /// The name of a sound that is a text, or an object of the form that APNs uses for critical alerts.
    private static func soundName(_ value: JSONValue) -> String? {
        switch value {
        case .string(let name): name.isEmpty ? nil : name
        case .object(let entries): entries.first { $0.name == "name" }.flatMap { soundName($0.value) }
        default: nil
        }
    }

    /// The content with the default values of the declared variables that it does not set.
    ///
    /// They are added to the platform's section; values that the content sets, whatever they are, stay. A locale's
    /// variant inherits them from there, unless it inherits nothing.
    package func completed(content json: String, platform: Platform) -> String {
        let defaults: [JSONEntry] = variables.compactMap { variable in
            variable.defaultValue.map { JSONEntry(name: variable.name, value: variable.type.value($0)) }
        }
        guard !defaults.isEmpty, let root = try? JSONParser.parse(json.utf8) else { return json }
        var main: ContentSection?
        if case .object(let parts) = root,
            case .object(let entries)? = parts.first(where: { $0.name == platform.rawValue })?.value
        {
            main = ContentSection(platform: platform, entries: entries)
        }
        let completed = ContentWalk(platform: platform).mapSections(root) { entries, isVariant in
            if isVariant, let main, ContentSection.inherits(entries, from: main) { return entries }
            var entries = entries
            let place = entries.firstIndex { $0.name == "variables" }
            var given: [JSONEntry] = []
            if let place, case .object(let found) = entries[place].value { given = found }
            // A data message has texts under names of their own: its title takes precedence over a variable's default.
            let section = ContentSection(platform: platform, entries: entries)
            let taken = Set(given.map(\.name) + (platform == .android ? FCMLayout.dataTexts(section).map(\.name) : []))
            given += defaults.filter { !taken.contains($0.name) }
            let variables = JSONEntry(name: "variables", value: .object(given))
            if let place { entries[place] = variables } else { entries.append(variables) }
            return entries
        }
        var bytes: [UInt8] = []
        completed.append(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// Finds the sections of a platform in a content: the objects under its name, at the top and in the variants for
/// locales.
struct ContentWalk {
    let platform: Platform

    /// Calls `visit` with the path and the entries of each section.
    func sections(_ value: JSONValue, _ path: String = "", _ visit: (String, [JSONEntry]) -> Void) {
        guard case .object(let entries) = value else { return }
        for entry in entries {
            let inner = path.isEmpty ? entry.name : "\(path).\(entry.name)"
            if entry.name == platform.rawValue, case .object(let section) = entry.value {
                visit(inner, section)
            } else if Platform(rawValue: entry.name) == nil {
                sections(entry.value, inner, visit)
            }
        }
    }

    /// The value with each section replaced.
    ///
    /// - Parameter change: also gets whether the section belongs to a variant.
    func mapSections(
        _ value: JSONValue,
        isVariant: Bool = false,
        _ change: ([JSONEntry], Bool) -> [JSONEntry]
    ) -> JSONValue {
        guard case .object(let entries) = value else { return value }
        return .object(
            entries.map { entry in
                if entry.name == platform.rawValue, case .object(let section) = entry.value {
                    return JSONEntry(name: entry.name, value: .object(change(section, isVariant)))
                }
                guard Platform(rawValue: entry.name) == nil else { return entry }
                return JSONEntry(name: entry.name, value: mapSections(entry.value, isVariant: true, change))
            }
        )
    }
}
