import Testing

/// Imports go one way: down. The table follows the map, section "The targets".
@Suite struct ImportDirectionTests {
    private static let processes: Set<String> = ["Supervisor", "MTAChild", "FeedbackWorker", "WebServer", "Console"]

    /// The package's targets that a target may import; nil if the table does not have it.
    private func allowed(_ target: String) -> Set<String>? {
        let belowProcesses: Set<String> = [
            "HTTPConnections", "TrackingSpools", "ProcessEvents", "ProcessProtocol", "MetricsEndpoint",
            "LegacyGateways", "Gateways", "Store", "HTTP2",
            "CurlClient",
            "PostgresClient",
            "Content", "OperatingSystem", "PushCore",
        ]
        switch target {
        // MobileSDKAndroid is Java, MobileSDKObjectiveC is Objective-C.
        case "PushCore", "MobileSDK", "MobileSDKAndroid", "MobileSDKObjectiveC", "ClockShift", "Schema", "ConsoleFiles",
            "CNGHTTP2", "CLibPQ", "CCurl", "COpenSSL", "CMalloc":
            return []
        case "OperatingSystem": return ["CMalloc"]
        case "CPKCS12": return ["COpenSSL"]
        case "Content": return ["PushCore"]
        case "CurlClient": return ["CCurl", "OperatingSystem"]
        case "PostgresClient": return ["CLibPQ", "OperatingSystem", "PushCore"]
        case "HTTP2": return ["CNGHTTP2"]
        case "GatewaySimulator": return ["HTTP2", "PushCore"]
        case "Store": return ["Schema", "PostgresClient", "Content", "PushCore"]
        case "ProcessEvents": return ["Store", "PostgresClient"]
        case "HTTPConnections": return ["PushCore"]
        case "TrackingSpools": return ["ProcessEvents", "Store", "OperatingSystem", "PushCore"]
        case "Gateways": return ["HTTP2", "CurlClient", "CPKCS12", "PushCore"]
        case "LegacyGateways": return ["Gateways", "HTTP2", "CurlClient", "PushCore"]
        case "ProcessProtocol": return ["PushCore"]
        case "MetricsEndpoint": return ["OperatingSystem"]
        case "gateway-simulator": return ["GatewaySimulator", "OperatingSystem"]
        case "Administration": return belowProcesses.union(Self.processes)
        // It starts the programs but is part of none.
        case "Laboratory": return belowProcesses.union(["Administration", "LaboratoryStore"])
        case "LaboratoryStore": return ["Store", "PostgresClient", "PushCore"]
        case "pushmta": return belowProcesses.union(Self.processes).union(["Administration"])
        case "pushmta-lab": return ["Administration", "Laboratory"]
        case "Console": return belowProcesses.union(["ConsoleFiles"])
        default: return Self.processes.contains(target) ? belowProcesses : nil
        }
    }

    @Test func everyTargetImportsDownOnly() throws {
        let targets = try PackageRoot.targets()
        let own = Set(targets).union(Self.processes)
        #expect(targets.count > 10)
        for target in targets {
            guard let allowed = allowed(target) else {
                Issue.record("Target \(target) is not in the table of allowed imports: add it there.")
                continue
            }
            for file in try PackageRoot.files(target: target) {
                for module in file.imports where own.contains(module) && module != target && !allowed.contains(module) {
                    Issue.record("\(file.path) imports \(module), which \(target) must not: imports go down only.")
                }
            }
        }
    }

    /// PushCore does no I/O, so it needs none of the modules that do. The only exception is the trap of debug builds,
    /// which ends the process and does nothing in a release build.
    @Test func pushCoreIsPure() throws {
        let allowed: Set<String> = [
            "Foundation", "FoundationEssentials", "Crypto", "CryptoExtras", "Synchronization", "Mustache", "PushCore",
        ]
        let files = try PackageRoot.files(target: "PushCore") + PackageRoot.files(target: "Content")
        for file in files where !file.path.hasSuffix("/CrashPointTrap.swift") {
            for module in file.imports where !allowed.contains(module) {
                Issue.record("\(file.path) imports \(module); PushCore and Content are pure values and state machines.")
            }
        }
    }

    /// Switched-off protocols are reached through the registry, like every gateway: a child asks the kind and never
    /// checks which one it is.
    @Test func childrenKnowNoGateway() throws {
        let names = #/\.(iosHTTP2|iosBinary|androidV1|androidV2|apns\w*|fcm\w*)\b/#
        for file in try PackageRoot.files(target: "MTAChild") where !file.path.hasSuffix("/GatewayRegistry.swift") {
            let found = file.code.matches(of: names).map { String($0.0) }
            #expect(found.isEmpty, "\(file.path) names \(found): ask the GatewayKind or the Gateway")
            #expect(!file.literals.contains("nmac.binary"), "\(file.path) names a setting of one gateway")
            #expect(!file.imports.contains("LegacyGateways"), "\(file.path): the registry alone names gateways")
        }
        let users = try PackageRoot.allFiles().filter { $0.imports.contains("LegacyGateways") }.map(\.path)
        #expect(
            users == [
                "Sources/FeedbackWorker/FeedbackServiceRound.swift", "Sources/MTAChild/GatewayRegistry.swift",
            ]
        )
    }

    /// The splitter and the import reader must find everything, or the tests above would pass vacuously.
    @Test func importsAreFound() {
        let text = """
            // import A
            /* import /* import B */ import C */
            import D // import E
            @testable import F
            @preconcurrency package import struct G.Name
            let text = "import H \\(call("import I", #"import "J""#)) import K"
            let long = \"""
            import L
            \"""
            #if canImport(M)
            import N
            #endif
            """
        let file = SourceFile(target: "T", path: "p", text: text)
        #expect(file.imports == ["D", "F", "G", "N"])
        #expect(
            file.literals.contains("import I") && file.literals.contains("import \"J\"")
                && file.literals.contains("import L")
        )
        #expect(file.code.contains("call("))
    }
}
