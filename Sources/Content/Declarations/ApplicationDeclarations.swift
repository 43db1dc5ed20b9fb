import PushCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What an application declares beside its address: variables, sounds, and the parameters of its subscriptions.
public struct ApplicationDeclarations: Sendable, Hashable {
    /// What its code understands in a message.
    public var variables: [ApplicationVariable]
    public var sounds: [ApplicationSound]
    /// What its code gives with a registration.
    public var parameters: [SubscriptionParameter]

    /// Declarations; names must be unique.
    public init(
        variables: [ApplicationVariable] = [],
        sounds: [ApplicationSound] = [],
        parameters: [SubscriptionParameter] = []
    ) {
        self.variables = variables
        self.sounds = sounds
        self.parameters = parameters
    }

    /// Adds a variable, or replaces the one of its name.
    public mutating func declare(_ variable: ApplicationVariable) {
        variables = variables.filter { $0.name != variable.name } + [variable]
    }

    /// Adds a sound, or replaces the one of its name.
    public mutating func declare(_ sound: ApplicationSound) {
        sounds = sounds.filter { $0.name != sound.name } + [sound]
    }

    /// Adds a subscription parameter, or replaces the one of its name; two cannot be kept in one column.
    public mutating func declare(_ parameter: SubscriptionParameter) throws(DeclarationError) {
        if let other = parameters.first(where: { $0.column == parameter.column && $0.name != parameter.name }) {
            throw DeclarationError(
                "subscription parameter \"\(parameter.name)\"",
                "parameter \"\(other.name)\" is kept in \(parameter.column) already",
                "choose another column"
            )
        }
        parameters = parameters.filter { $0.name != parameter.name } + [parameter]
    }

    /// Puts what a device gave under the declared names where it belongs; other names are parameters of the subscription.
    public func place(_ given: [String: String]) -> [SubscriptionParameter.Column: String] {
        let columns = Dictionary(parameters.map { ($0.name, $0.column) }, uniquingKeysWith: { first, _ in first })
        var placed: [SubscriptionParameter.Column: String] = [:]
        for (name, value) in given where columns[name] == nil { placed[.parameter(name)] = value }
        // A declared name wins over one that happens to be called like its column.
        for (name, column) in columns { if let value = given[name] { placed[column] = value } }
        return placed
    }
}

/// Declarations as the database keeps them: a JSON list of objects of each kind.
extension ApplicationDeclarations {
    /// Reads the lists; throws with the list at fault if one is not of the form that this program writes.
    public init(variables: String, sounds: String, parameters: String) throws(DeclarationError) {
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
                "they are stored in a form that this program does not know",
                "declare them anew"
            )
        }
    }

    /// The variables as a JSON list.
    public var variablesJSON: String { Self.write(variables) }
    /// The sounds as a JSON list.
    public var soundsJSON: String { Self.write(sounds) }
    /// The subscription parameters as a JSON list.
    public var parametersJSON: String { Self.write(parameters) }

    /// Texts, booleans and nothing else: encoding cannot fail.
    private static func write(_ elements: [some Encodable]) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(elements)).map { String(decoding: $0, as: UTF8.self) } ?? "[]"
    }
}

/// What a content may say to an application.
extension ApplicationDeclarations {
    /// What of a content the application would not understand: variables that it does not declare or that are of another type, and
    /// sounds that it does not have.
    ///
    /// An application that declares no variables takes all, and so with sounds. Where it declares some, a name that is none of
    /// them is a mistake that nobody would see on the device; so it is refused before anything is sent.
    public func problems(content json: String, platform: Platform) -> [ContentProblem] {
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
        guard !variables.isEmpty, given.value != .null else { return nil }
        let key = "\(path).variables.\(given.name)"
        guard let variable = variables.first(where: { $0.name == given.name }) else {
            let names = variables.map(\.name)
            let nearest = NearestName.nearest(to: given.name, among: names).map { "; did you mean \($0)?" } ?? ""
            return ContentProblem(
                key: key,
                cause: "the application declares no such variable\(nearest)",
                remedy: "use one of \(names.joined(separator: ", ")), or declare it with pushmta app set --variable"
            )
        }
        guard !Self.fits(given.value, variable.type) else { return nil }
        return ContentProblem(
            key: key,
            cause: "it is declared to be \(variable.type.words), and the value is not",
            remedy: "give \(variable.type.example)"
        )
    }

    /// Whether a value is of the type; what a template makes of a recipient's fields is not known before it is sent.
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
            cause: "the application declares no sound of this name\(nearest)",
            remedy: "use default or one of \(names.joined(separator: ", ")), or declare it with pushmta app set --sound"
        )
    }

    /// The problem of the sound in what is put over the payload as it is.
    private func soundProblems(_ raw: JSONValue, _ names: [String], _ path: String) -> [ContentProblem] {
        var value: JSONValue? = raw
        for name in names + ["sound"] {
            guard case .object(let entries)? = value else { return [] }
            value = entries.first { $0.name == name }?.value
        }
        let key = ([path] + names + ["sound"]).joined(separator: ".")
        return value.flatMap { soundProblem($0, key) }.map { [$0] } ?? []
    }

    /// The name in a sound that is a text, or an object as APNs has it for critical alerts.
    private static func soundName(_ value: JSONValue) -> String? {
        switch value {
        case .string(let name): name.isEmpty ? nil : name
        case .object(let entries): entries.first { $0.name == "name" }.flatMap { soundName($0.value) }
        default: nil
        }
    }

    /// The content with the default values of declared variables that it does not give.
    ///
    /// They are added where the content speaks to the platform; what it gives stays, whatever it is. A locale's variant takes them from
    /// there, unless it stands for itself.
    public func completed(content json: String, platform: Platform) -> String {
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
            // A data message says some things by keys of its own: its title goes before a variable's default.
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

/// Finds what a content says to a platform: the objects under its name, at the top and in variants of the whole content.
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
    /// - Parameter change: told whether the section is one of a variant.
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

/// Why an application cannot declare what it was given.
public struct DeclarationError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What was declared: `variable "screen"`, `icon`, …
    public let thing: String
    /// What is wrong with it.
    public let cause: String
    public let remedy: String

    public init(_ thing: String, _ cause: String, _ remedy: String) {
        self.thing = thing
        self.cause = cause
        self.remedy = remedy
    }

    /// Thing, cause and remedy in one line.
    public var description: String { "\(thing): \(cause); \(remedy)" }
}
