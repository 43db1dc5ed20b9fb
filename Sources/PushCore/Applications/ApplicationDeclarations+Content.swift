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
    /// They are added where the content speaks to the platform, in its locale variants too; what it gives stays, whatever it is.
    public func completed(content json: String, platform: Platform) -> String {
        let defaults: [JSONEntry] = variables.compactMap { variable in
            variable.defaultValue.map { JSONEntry(name: variable.name, value: variable.type.value($0)) }
        }
        guard !defaults.isEmpty, let root = try? JSONParser.parse(json.utf8) else { return json }
        let completed = ContentWalk(platform: platform).mapSections(root) { entries in
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
