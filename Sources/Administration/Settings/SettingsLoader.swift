import Configuration
import Foundation
import Gateways
import PushCore
import SystemPackage
import Yams

/// Reads the settings: defaults, then the file, then the environment, then flags. Later sources win.
package struct SettingsLoader: Sendable {
    /// The file that is read if it exists and no other one is named.
    package static let usualFile = "/etc/pushmta/pushmta.yaml"
    /// The prefix of every PushMTA environment variable.
    package static let environmentPrefix = "PUSHMTA"
    /// The variable that may hold the passphrase of a `.p12` file.
    package static let passphraseVariable = "PUSHMTA_CREDENTIAL_PASSPHRASE"
    /// The variable that names the folder of PostgreSQL's programs, for the clusters that sites, benches and tests
    /// create.
    package static let postgresVariable = "PUSHMTA_POSTGRESQL"
    /// Variables with this prefix that are not settings: the name of the file, a passphrase, a folder of programs,
    /// and those of the package's build and tests.
    package static let otherVariables: Set<String> = [
        "PUSHMTA_CONFIG", "PUSHMTA_TARGETS", "PUSHMTA_WARNINGS_AS_ERRORS", "PUSHMTA_CRASH_POINT",
        "PUSHMTA_FUZZ_CASES", "PUSHMTA_TEST_CASES", "PUSHMTA_TEST_SEED", passphraseVariable, postgresVariable,
    ]

    /// The file that a flag names.
    package var file: String?
    package var environment: [String: String]
    /// The `KEY=VALUE` texts of flags, in their order.
    package var flags: [String]

    /// Reads all sources.
    ///
    /// - Throws: `SettingsError` for an unknown key, a value of the wrong type or range, or a file that cannot be read.
    package func load() async throws -> LoadedSettings {
        var loaded = LoadedSettings()
        loaded.file = await chosenFile()
        if let file = loaded.file {
            try apply(try await fileProvider(file), source: .file, to: &loaded)
        }
        try apply(try environmentProvider(), source: .environment, to: &loaded)
        try apply(try flagProvider(), source: .flag, to: &loaded)
        if loaded.sources["database.url"] != nil { loaded.values.database.origin = loaded.origin(of: "database.url") }
        try check(loaded.values)
        return loaded
    }

    private func chosenFile() async -> String? {
        if let named = file ?? environment["PUSHMTA_CONFIG"], !named.isEmpty {
            // Absolute, because the processes it starts may run in another folder.
            return URL(fileURLWithPath: named).path
        }
        let usual = FilePath(Self.usualFile)
        let exists = (try? FileDescriptor.open(usual, .readOnly).close()) != nil
        return exists ? Self.usualFile : nil
    }

    private func fileProvider(_ path: String) async throws -> any ConfigProvider {
        let provider: FileProvider<YAMLSnapshot>
        let keys: SettingsFileKeys
        do {
            // The library looks up the keys that it is asked for, but does not list the others.
            keys = try SettingsFileKeys(yaml: try String(contentsOfFile: path, encoding: .utf8))
            // A file with only comments sets nothing. The library does not accept it as a file.
            if keys.isEmpty { return InMemoryProvider(values: [:]) }
            provider = try await FileProvider<YAMLSnapshot>(
                parsingOptions: .init(secretsSpecifier: .all),
                filePath: FilePath(path)
            )
        } catch {
            throw SettingsError(.file, "The settings file \(path) cannot be read: \(Self.words(error, path)).")
        }
        try check(keys, of: path)
        return provider
    }

    /// Why a settings file cannot be read, and what to do.
    private static func words(_ error: any Error, _ path: String) -> String {
        if error is YamlError {
            return "\(error). It must be YAML: indent with two spaces, not tabs; config show lists the keys"
        }
        guard FileManager.default.fileExists(atPath: path) else {
            return "it does not exist: name another one with --config or PUSHMTA_CONFIG"
        }
        guard FileManager.default.isReadableFile(atPath: path) else {
            return
                "the user \(ProcessInfo.processInfo.userName) may not read it\(Self.owner(of: path)): run this as root, or as the user that "
                + "the service runs as (runuser -u pushmta -- pushmta …)"
        }
        return "\(error)"
    }

    /// The owner of a file, as far as this user may know.
    private static func owner(of path: String) -> String {
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: path),
            let user = attributes[.ownerAccountName] as? String,
            let group = attributes[.groupOwnerAccountName] as? String
        else { return "" }
        return ", which belongs to \(user) and the group \(group)"
    }

    private func check(_ keys: SettingsFileKeys, of path: String) throws {
        let known = Settings.definitions.map(\.key)
        for key in keys.values where !known.contains(key) {
            throw unknown(key, known: known, place: "in \(path)")
        }
        for key in keys.emptyMaps where !known.contains(where: { $0.hasPrefix(key + ".") }) {
            guard let definition = Settings.definitions.first(where: { $0.key == key }) else {
                throw unknown(key, known: known, place: "in \(path)")
            }
            throw SettingsError(.type, "\(key) in \(path) is an empty map: give \(definition.typeName)")
        }
    }

    private func environmentProvider() throws -> any ConfigProvider {
        let provider = EnvironmentVariablesProvider(environmentVariables: environment)
            .prefixKeys(with: ConfigKey([Self.environmentPrefix.lowercased()]))
        let known = try Settings.definitions.map { try Self.variable(of: $0, provider) }
        let ours = environment.keys.filter { $0.hasPrefix(Self.environmentPrefix + "_") }.sorted()
        for name in ours where !known.contains(name) && !Self.otherVariables.contains(name) {
            throw unknown(name, known: known, place: "in the environment")
        }
        return provider
    }

    private func flagProvider() throws -> any ConfigProvider {
        var values: [AbsoluteConfigKey: ConfigValue] = [:]
        for flag in flags {
            let parts = flag.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else {
                throw SettingsError(.type, "--set \(flag) has no value: write --set KEY=VALUE")
            }
            let key = String(parts[0])
            guard let definition = Settings.definitions.first(where: { $0.key == key }) else {
                throw unknown(key, known: Settings.definitions.map(\.key), place: "after --set")
            }
            let text = String(parts[1])
            var content = ConfigContent.string(text)
            if case .integer = definition.access {
                guard let number = Int(text) else {
                    throw SettingsError(.type, "--set \(key) is “\(text)”: give \(definition.typeName)")
                }
                content = .int(number)
            }
            values[AbsoluteConfigKey(definition.components)] = ConfigValue(content, isSecret: true)
        }
        return InMemoryProvider(values: values)
    }

    private func apply(_ provider: any ConfigProvider, source: SettingSource, to loaded: inout LoadedSettings) throws {
        for definition in Settings.definitions {
            guard let value = try value(of: definition, in: provider, source: source) else { continue }
            do {
                try definition.set(value, in: &loaded.values)
            } catch {
                throw SettingsError(error.code, "\(error.message) (set by \(source.rawValue))")
            }
            loaded.sources[definition.key] = source
        }
    }

    private func value(
        of definition: SettingDefinition,
        in provider: any ConfigProvider,
        source: SettingSource
    ) throws -> SettingValue? {
        let key = AbsoluteConfigKey(definition.components)
        do {
            if case .integer = definition.access {
                guard case .int(let number) = try provider.value(forKey: key, type: .int).value?.content else {
                    return nil
                }
                return .integer(number)
            }
            guard case .string(let text) = try provider.value(forKey: key, type: .string).value?.content else {
                return nil
            }
            return .text(text)
        } catch {
            throw SettingsError(
                .type,
                "\(definition.key), set by \(source.rawValue), has a value of the wrong type: give \(definition.typeName)"
            )
        }
    }

    /// Checks that involve more than one key.
    private func check(_ settings: Settings) throws {
        for definition in Settings.definitions where definition.unit == "path" {
            let value = definition.text(in: settings)
            guard value.hasPrefix("~") else { continue }
            throw SettingsError(
                .range,
                "\(definition.key) is “\(value)”: only shells expand ~, so write the absolute path, beginning with /"
            )
        }
        guard settings.mta.lease.renewalSec * 2 < settings.mta.lease.durationSec else {
            throw SettingsError(
                .range,
                "mta.lease.renewalSec is \(settings.mta.lease.renewalSec) with mta.lease.durationSec \(settings.mta.lease.durationSec): "
                    + "give less than half, so that one lost renewal does not end a lease"
            )
        }
        guard settings.mta.master.minSpareServers <= settings.mta.master.maxSpareServers else {
            throw SettingsError(
                .range,
                "mta.master.minSpareServers is above mta.master.maxSpareServers: lower it or raise the other"
            )
        }
        _ = try settings.nmac.gatewayProxy(environment: environment)
    }

    private func unknown(_ key: String, known: [String], place: String) -> SettingsError {
        // If only the first parts of a key are missing, the match is certain. The prefix that all variables share
        // does not count for the distance.
        let whole = known.filter { $0.lowercased().hasSuffix(".\(key.lowercased())") }
        let own = key.hasPrefix(Self.environmentPrefix + "_") ? Self.environmentPrefix.utf8.count + 1 : 0
        let near = NearestName.nearest(to: key, among: known, within: max(1, (key.utf8.count - own) / 3))
        let hint = (whole.count == 1 ? whole.first : near).map { ": did you mean \($0)?" } ?? "."
        return SettingsError(
            .unknownKey,
            "Unknown setting \(key) \(place)\(hint) `pushmta config show` lists all settings."
        )
    }

    /// The name of a setting's environment variable, spelled as the provider spells it.
    package static func variable(of definition: SettingDefinition) -> String {
        let provider = EnvironmentVariablesProvider(environmentVariables: [:])
            .prefixKeys(with: ConfigKey([environmentPrefix.lowercased()]))
        return (try? variable(of: definition, provider)) ?? ""
    }

    private static func variable(of definition: SettingDefinition, _ provider: some ConfigProvider) throws -> String {
        try provider.value(forKey: AbsoluteConfigKey(definition.components), type: .string).encodedKey
    }
}

/// The keys of a settings file, known or not, with the parts of each joined by dots.
package struct SettingsFileKeys {
    /// Keys with a value or a list, sorted.
    private(set) var values: [String] = []
    /// Keys whose value is an empty map, sorted.
    private(set) var emptyMaps: [String] = []

    /// Whether there are no keys at all.
    var isEmpty: Bool { values.isEmpty && emptyMaps.isEmpty }

    /// Reads the keys of a YAML text. Anything but nested maps has no keys.
    ///
    /// - Throws: The parser's error for text that is not YAML.
    package init(yaml text: String) throws {
        if let root = try Parser(yaml: text).singleRoot() { collect(root, below: []) }
        values.sort()
        emptyMaps.sort()
    }

    private mutating func collect(_ node: Node, below parts: [String]) {
        guard let mapping = node.mapping else {
            values.append(parts.joined(separator: "."))
            return
        }
        if mapping.isEmpty, !parts.isEmpty { emptyMaps.append(parts.joined(separator: ".")) }
        for (key, value) in mapping { collect(value, below: parts + [key.string ?? "?"]) }
    }
}
