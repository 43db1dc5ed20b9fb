import ArgumentParser
import Configuration
import Foundation
import Gateways
import PushCore
import SystemPackage
import Yams

/// Reads the settings: defaults, then the file, then the environment, then flags; the later one wins.
package struct SettingsLoader: Sendable {
    /// The file that is read when none is named and it exists.
    package static let usualFile = "/etc/pushmta/pushmta.yaml"
    /// The first part of every environment variable of ours.
    package static let environmentPrefix = "PUSHMTA"
    /// The variable that may hold the passphrase of a `.p12` file.
    package static let passphraseVariable = "PUSHMTA_CREDENTIAL_PASSPHRASE"
    /// The variable that names the folder of PostgreSQL's programs, for the clusters that sites, benches and tests make.
    package static let postgresVariable = "PUSHMTA_POSTGRESQL"
    /// Variables of the same prefix that are not settings: the file's name, a passphrase, a folder of programs, and those of the package's
    /// build and tests.
    package static let otherVariables: Set<String> = [
        "PUSHMTA_CONFIG", "PUSHMTA_TARGETS", "PUSHMTA_WARNINGS_AS_ERRORS", "PUSHMTA_CRASH_POINT",
        "PUSHMTA_FUZZ_CASES", "PUSHMTA_TEST_CASES", "PUSHMTA_TEST_SEED", passphraseVariable, postgresVariable,
    ]

    /// The file named by a flag.
    package var file: String?
    package var environment: [String: String]
    /// `KEY=VALUE` texts of flags, in their order.
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
            // Absolute, because processes that are started with it may run in another folder.
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
            // The library looks for the keys that it is asked for and does not say which others there are.
            keys = try SettingsFileKeys(yaml: try String(contentsOfFile: path, encoding: .utf8))
            // A file of comments is one that sets nothing, which the library does not take for a file.
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
            return "\(error). It is YAML: steps of two blanks, no tabs; config show lists the keys"
        }
        guard FileManager.default.fileExists(atPath: path) else {
            return "it is not there: name another one with --config or PUSHMTA_CONFIG"
        }
        guard FileManager.default.isReadableFile(atPath: path) else {
            return
                "the user \(ProcessInfo.processInfo.userName) may not read it\(Self.owner(of: path)): run this as root, or as the user that "
                + "the service runs as (runuser -u pushmta -- pushmta …)"
        }
        return "\(error)"
    }

    /// Whose a file is, as far as this user may know.
    private static func owner(of path: String) -> String {
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: path),
            let user = attributes[.ownerAccountName] as? String,
            let group = attributes[.groupOwnerAccountName] as? String
        else { return "" }
        return ", as it belongs to \(user) and the group \(group)"
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

    /// What no single key can say.
    private func check(_ settings: Settings) throws {
        for definition in Settings.definitions where definition.unit == "path" {
            let value = definition.text(in: settings)
            guard value.hasPrefix("~") else { continue }
            throw SettingsError(
                .range,
                "\(definition.key) is “\(value)”: only shells know what ~ means, so write the whole path, from / on"
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
        // If the first words of a key were forgotten, the last one is right. Of variables the prefix, which all share, counts for nothing.
        let whole = known.filter { $0.lowercased().hasSuffix(".\(key.lowercased())") }
        let own = key.hasPrefix(Self.environmentPrefix + "_") ? Self.environmentPrefix.utf8.count + 1 : 0
        let near = NearestName.nearest(to: key, among: known, within: max(1, (key.utf8.count - own) / 3))
        let hint = (whole.count == 1 ? whole.first : near).map { ": did you mean \($0)?" } ?? "."
        return SettingsError(
            .unknownKey,
            "Unknown setting \(key) \(place)\(hint) `pushmta config show` lists all settings."
        )
    }

    /// The name of a setting's environment variable, as the provider itself spells it.
    package static func variable(of definition: SettingDefinition) -> String {
        let provider = EnvironmentVariablesProvider(environmentVariables: [:])
            .prefixKeys(with: ConfigKey([environmentPrefix.lowercased()]))
        return (try? variable(of: definition, provider)) ?? ""
    }

    private static func variable(of definition: SettingDefinition, _ provider: some ConfigProvider) throws -> String {
        try provider.value(forKey: AbsoluteConfigKey(definition.components), type: .string).encodedKey
    }
}

/// The flags that every subcommand has: where the settings come from.
package struct GlobalOptions: ParsableArguments {
    package init() {}

    @Option(name: .long, help: "The settings file (default: $PUSHMTA_CONFIG, then \(SettingsLoader.usualFile)).")
    package var config: String?

    @Option(name: .long, help: "The database: a libpq connection string or URI. Overrides database.url.")
    package var database: String?

    @Option(
        name: .customLong("set"),
        help: ArgumentHelp("Overrides a setting, as in mta.child.maxAgeSec=300.", valueName: "key=value")
    )
    package var overrides: [String] = []

    /// The loader for these flags and this process's environment.
    package var loader: SettingsLoader {
        let databaseFlag = database.map { ["database.url=\($0)"] } ?? []
        return SettingsLoader(
            file: config,
            environment: ProcessInfo.processInfo.environment,
            flags: databaseFlag + overrides
        )
    }

    /// Puts what the flags set into the environment, so that processes that this one starts have it, too.
    ///
    /// Not on their command lines: a connection string may hold a password, and everybody sees command lines. Call it before
    /// anything else of the process reads the environment.
    package func exportFlags() {
        for flag in loader.flags {
            let parts = flag.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, let definition = Settings.definitions.first(where: { $0.key == parts[0] }) else {
                continue
            }
            setenv(SettingsLoader.variable(of: definition), String(parts[1]), 1)
        }
    }

    package func load() async throws -> LoadedSettings {
        try await loader.load()
    }
}

/// Settings with the place each value came from.
package struct LoadedSettings: Sendable {
    package var values = Settings()
    /// The source of each key that is not at its default.
    package var sources: [String: SettingSource] = [:]
    /// The file that was read, if any.
    package var file: String?

    /// Where the value of `key` came from, in words: the file's path, or the variable's name.
    package func origin(of key: String) -> SettingOrigin {
        let definition = Settings.definitions.first { $0.key == key }
        switch source(of: key) {
        case .default: return SettingOrigin("\(key), which is not set")
        case .file: return SettingOrigin("\(key) (file \(file ?? "of the settings"))")
        case .environment:
            return SettingOrigin("\(key) (environment, \(definition.map { SettingsLoader.variable(of: $0) } ?? ""))")
        case .flag: return SettingOrigin("\(key) (\(key == "database.url" ? "--database or --set" : "--set"))")
        }
    }

    /// Where the value of `key` came from.
    package func source(of key: String) -> SettingSource {
        sources[key] ?? .default
    }
}

/// Where the value of a setting came from.
package enum SettingSource: String, Sendable {
    case `default`
    case file
    case environment
    case flag
}

/// The keys of a settings file, known or not, each with its parts joined with dots.
package struct SettingsFileKeys {
    /// Keys with a value or a list, sorted.
    private(set) var values: [String] = []
    /// Keys whose value is a map without entries, sorted.
    private(set) var emptyMaps: [String] = []

    /// Whether there is none at all.
    var isEmpty: Bool { values.isEmpty && emptyMaps.isEmpty }

    /// Reads the keys of a YAML text; what is no map of maps has none.
    ///
    /// - Throws: What the parser throws for text that is not YAML.
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
