// swift-tools-version: 6.2
import PackageDescription

// CI sets this, so that a warning fails the build there and not at a developer's desk.
let warningsAreErrors = Context.environment["PUSHMTA_WARNINGS_AS_ERRORS"] == "1"

let swiftSettings: [SwiftSetting] =
    [
        .swiftLanguageMode(.v6), .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("MemberImportVisibility"),
    ]
    + (warningsAreErrors ? [.treatAllWarnings(as: .error)] : [])

extension Target.Dependency {
    static let nioCore = product(name: "NIOCore", package: "swift-nio")
    static let nioPosix = product(name: "NIOPosix", package: "swift-nio")
    static let nioEmbedded = product(name: "NIOEmbedded", package: "swift-nio")
    static let nioHTTP1 = product(name: "NIOHTTP1", package: "swift-nio")
    static let nioTLS = product(name: "NIOTLS", package: "swift-nio")
    static let nioSSL = product(name: "NIOSSL", package: "swift-nio-ssl")
    static let logging = product(name: "Logging", package: "swift-log")
    static let crypto = product(name: "Crypto", package: "swift-crypto")
    static let cryptoExtras = product(name: "CryptoExtras", package: "swift-crypto")
    static let jwtKit = product(name: "JWTKit", package: "jwt-kit")
    static let x509 = product(name: "X509", package: "swift-certificates")
    static let asn1 = product(name: "SwiftASN1", package: "swift-asn1")
    static let argumentParser = product(name: "ArgumentParser", package: "swift-argument-parser")
    static let configuration = product(name: "Configuration", package: "swift-configuration")
    static let subprocess = product(name: "Subprocess", package: "swift-subprocess")
    static let system = product(name: "SystemPackage", package: "swift-system")
    static let serviceLifecycle = product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
    static let unixSignals = product(name: "UnixSignals", package: "swift-service-lifecycle")
    static let histogram = product(name: "Histogram", package: "hdrhistogram-swift")
    static let yams = product(name: "Yams", package: "Yams")
    static let mustache = product(name: "Mustache", package: "swift-mustache")
    static let hummingbird = product(name: "Hummingbird", package: "hummingbird")
    static let hummingbirdCore = product(name: "HummingbirdCore", package: "hummingbird")
    static let httpTypes = product(name: "HTTPTypes", package: "swift-http-types")
    static let nioHTTPTypes = product(name: "NIOHTTPTypes", package: "swift-nio-extras")
    static let nioHTTPTypesHTTP1 = product(name: "NIOHTTPTypesHTTP1", package: "swift-nio-extras")
}

func module(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: swiftSettings)
}

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(name: name, dependencies: dependencies, swiftSettings: swiftSettings)
}

// Imports go one way: down this list. `PackageLayoutTests` checks it.
let targets: [Target] = [
    .systemLibrary(
        name: "CNGHTTP2",
        pkgConfig: "libnghttp2",
        providers: [.apt(["libnghttp2-dev"]), .brew(["libnghttp2"])]
    ),
    .systemLibrary(name: "CLibPQ", pkgConfig: "libpq", providers: [.apt(["libpq-dev"]), .brew(["libpq"])]),
    .systemLibrary(name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"]), .brew(["curl"])]),
    .systemLibrary(name: "COpenSSL", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"]), .brew(["openssl@3"])]),
    .systemLibrary(name: "CMalloc"),
    .target(name: "CPKCS12", dependencies: ["COpenSSL"]),
    // Nobody imports it: drills load it into processes that are to see another wall clock.
    .target(name: "ClockShift"),
    // The database's schema. Its source takes the SQL in.
    .target(name: "Schema", exclude: ["version1", "migrations", "rights.sql"]),
    // What the console's pages are made of. Its source takes the files in.
    .target(name: "ConsoleFiles", exclude: ["templates", "words", "assets"]),

    module("PushCore", [.crypto, .cryptoExtras]),
    module("OperatingSystem", ["CMalloc", .system]),
    module("Content", ["PushCore", .mustache]),
    module("PostgresClient", ["CLibPQ", "OperatingSystem", "PushCore"]),
    module("CurlClient", ["CCurl", "OperatingSystem"]),
    module("HTTP2", ["CNGHTTP2", .nioCore, .nioPosix, .nioTLS, .nioSSL]),
    module("ProcessProtocol", ["PushCore"]),
    // What monitoring reads of each process.
    module("MetricsEndpoint", ["OperatingSystem", .nioCore, .nioPosix, .nioHTTP1, .logging]),
    module("Store", ["Schema", "PostgresClient", "Content", "PushCore", .crypto]),
    module(
        "Gateways",
        [
            "HTTP2", "CurlClient", "CPKCS12", "PushCore", .nioCore, .nioSSL, .crypto, .cryptoExtras, .x509, .asn1,
        ]
    ),
    // Protocols that their vendors have switched off.
    module(
        "LegacyGateways",
        ["Gateways", "HTTP2", "CurlClient", "PushCore", .nioCore, .nioPosix, .nioTLS, .nioSSL]
    ),
    module(
        "GatewaySimulator",
        [
            "HTTP2", "PushCore", .nioCore, .nioPosix, .nioHTTP1, .nioTLS, .nioSSL, .crypto, .cryptoExtras, .x509, .asn1,
        ]
    ),
    module("ProcessEvents", ["Store", "PostgresClient", .logging]),
    module(
        "MTAChild",
        [
            "ProcessEvents", "ProcessProtocol", "LegacyGateways", "Gateways", "Store", "PostgresClient", "Content",
            "OperatingSystem", "PushCore",
            .nioCore,
            .nioPosix, .histogram, .system, .logging,
        ]
    ),
    module(
        "Supervisor",
        [
            "HTTPConnections", "ProcessEvents", "ProcessProtocol", "MetricsEndpoint", "Store", "PostgresClient",
            "CurlClient", "Content", "OperatingSystem", "PushCore",
            .nioCore, .nioPosix,
            .subprocess,
            .system,
            .logging,
        ]
    ),
    // Connections from outside, for the web process and the console.
    module(
        "HTTPConnections",
        ["PushCore", .httpTypes, .nioHTTPTypes, .nioHTTPTypesHTTP1, .nioCore, .nioHTTP1, .nioSSL]
    ),
    module("TrackingSpools", ["ProcessEvents", "Store", "OperatingSystem", "PushCore", .system, .logging]),
    module(
        "FeedbackWorker",
        [
            "ProcessEvents", "TrackingSpools", "MetricsEndpoint", "LegacyGateways", "Gateways", "Store", "CurlClient",
            "PushCore",
            .nioPosix, .logging,
        ]
    ),
    module(
        "WebServer",
        [
            "HTTPConnections", "ProcessEvents", "TrackingSpools", "MetricsEndpoint", "Store", "PostgresClient",
            "Content",
            "PushCore",
            .hummingbird,
            .hummingbirdCore,
            .httpTypes, .nioHTTPTypes, .nioHTTPTypesHTTP1, .nioCore, .nioPosix, .nioHTTP1, .nioSSL, .system,
            .serviceLifecycle, .logging,
        ]
    ),
    module(
        "Console",
        [
            "ConsoleFiles", "HTTPConnections", "ProcessEvents", "Content", "Gateways", "Store", "PostgresClient",
            "PushCore",
            .hummingbird, .hummingbirdCore,
            .httpTypes, .nioHTTPTypes, .mustache, .nioCore, .nioPosix, .nioSSL, .crypto, .cryptoExtras,
            .serviceLifecycle, .logging,
        ]
    ),
    // What apps link: no dependency, and the samples are code of apps.
    .target(name: "MobileSDK", exclude: ["Samples"], swiftSettings: swiftSettings),
    .executableTarget(
        name: "gateway-simulator",
        dependencies: ["GatewaySimulator", "OperatingSystem", .argumentParser],
        swiftSettings: swiftSettings
    ),
    // What the commands share: settings, the way to the database, terminals, credential files.
    module(
        "Administration",
        [
            "Supervisor", "WebServer", "Console", "TrackingSpools", "Gateways", "Store", "ProcessProtocol",
            "PostgresClient", "Content", "OperatingSystem", "PushCore", .crypto, .argumentParser, .configuration,
            .unixSignals, .system,
            .yams,
        ]
    ),
    // What only drills and benches ask a database.
    module("LaboratoryStore", ["Store", "PostgresClient", "PushCore"]),
    // Drills, benches, quickstart: whole sites of real processes.
    module(
        "Laboratory",
        [
            "Administration", "LaboratoryStore", "Store", "ProcessProtocol", "PostgresClient", "CurlClient", "HTTP2",
            "OperatingSystem",
            "PushCore", .argumentParser, .nioCore, .nioPosix, .subprocess, .system, .unixSignals,
        ]
    ),
    .executableTarget(
        name: "pushmta",
        dependencies: [
            "Administration", "Supervisor", "MTAChild", "FeedbackWorker", "WebServer", "Console",
            "MetricsEndpoint", "Gateways",
            "ProcessEvents", "Store", "ProcessProtocol", "PostgresClient", "CurlClient", "Content", "OperatingSystem",
            "PushCore",
            .argumentParser, .logging, .nioCore, .nioPosix, .unixSignals, .system,
        ],
        swiftSettings: swiftSettings,
        // By its id a debugger finds the symbols, which are in a package of their own.
        linkerSettings: [.unsafeFlags(["-Xlinker", "--build-id=sha1"], .when(platforms: [.linux]))]
    ),
    .executableTarget(
        name: "pushmta-lab",
        dependencies: ["Laboratory", "Administration", .argumentParser],
        swiftSettings: swiftSettings
    ),

    .target(
        name: "TestSupport",
        dependencies: ["PostgresClient", "Store", "OperatingSystem", .system],
        path: "Tests/TestSupport",
        swiftSettings: swiftSettings
    ),
    // A simulator, and what hears gateways.
    .target(
        name: "GatewayTestSupport",
        dependencies: [
            "LegacyGateways", "Gateways", "GatewaySimulator", "PushCore", "TestSupport", .nioCore, .nioPosix,
        ],
        path: "Tests/GatewayTestSupport",
        swiftSettings: swiftSettings
    ),
    tests("PackageLayoutTests", []),
    .testTarget(
        name: "MobileSDKTests",
        dependencies: ["MobileSDK", .nioCore, .nioPosix, .nioHTTP1],
        // Objective-C and Java, which scripts compile, and modules with the names of Apple's.
        exclude: ["ObjectiveC/Fixtures", "Android/Java", "Apple/Stubs"],
        swiftSettings: swiftSettings
    ),
    tests("PushCoreTests", ["PushCore", "TestSupport"]),
    tests("OperatingSystemTests", ["OperatingSystem", "TestSupport", .system]),
    tests(
        "MetricsEndpointTests",
        ["MetricsEndpoint", "OperatingSystem", "TestSupport", .nioCore, .nioPosix, .nioHTTP1, .logging]
    ),
    tests("ContentTests", ["Content", "PushCore", "TestSupport"]),
    tests("PostgresClientTests", ["PostgresClient", "PushCore", "TestSupport"]),
    tests("CurlClientTests", ["CurlClient", .nioCore, .nioPosix, .nioHTTP1]),
    .testTarget(
        name: "HTTP2Tests",
        dependencies: ["HTTP2", "CNGHTTP2", "GatewayTestSupport", .nioCore, .nioPosix, .nioEmbedded, .nioSSL],
        exclude: ["Fixtures"],
        swiftSettings: swiftSettings
    ),
    tests("StoreTests", ["LaboratoryStore", "Store", "PostgresClient", "Content", "PushCore", "TestSupport"]),
    tests(
        "GatewaysTests",
        [
            "Gateways", "GatewayTestSupport", "GatewaySimulator", "HTTP2", "PushCore", "TestSupport", .nioCore,
            .nioPosix, .nioSSL, .crypto, .cryptoExtras, .x509, .asn1,
        ]
    ),
    tests(
        "LegacyGatewaysTests",
        [
            "LegacyGateways", "Gateways", "GatewayTestSupport", "GatewaySimulator", "HTTP2", "PushCore", "TestSupport",
            .nioCore, .nioPosix, .nioEmbedded, .nioTLS,
        ]
    ),
    tests("GatewaySimulatorTests", ["GatewaySimulator", "HTTP2", "PushCore", .nioCore, .nioPosix, .nioSSL, .jwtKit]),
    .testTarget(
        name: "MTAChildTests",
        dependencies: [
            "MTAChild", "Gateways", "HTTP2", "ProcessProtocol", "Store", "PostgresClient", "Content", "OperatingSystem",
            "PushCore", "TestSupport", .nioCore, .nioPosix, .logging, .system,
        ],
        exclude: ["Goldens"],
        swiftSettings: swiftSettings
    ),
    tests(
        "SupervisorTests",
        [
            "Supervisor", "ProcessProtocol", "Store", "PostgresClient", "OperatingSystem", "PushCore", "TestSupport",
            .nioCore, .nioPosix, .system, .logging,
        ]
    ),
    tests(
        "FeedbackWorkerTests",
        [
            "FeedbackWorker", "TrackingSpools", "GatewaySimulator", "LegacyGateways", "Gateways", "Store",
            "PostgresClient", "PushCore", "TestSupport", .logging,
        ]
    ),
    tests(
        "WebServerTests",
        [
            "WebServer", "HTTPConnections", "TrackingSpools", "Store", "PostgresClient", "Content", "PushCore",
            "TestSupport",
            .hummingbird,
            .httpTypes, .nioCore, .nioPosix, .nioSSL, .logging,
        ]
    ),
    tests(
        "ConsoleTests",
        [
            "Console", "ConsoleFiles", "Administration", "Store", "PostgresClient", "PushCore", "TestSupport",
            .hummingbird, .httpTypes, .nioCore, .nioPosix, .crypto, .logging,
        ]
    ),
    .testTarget(
        name: "EndToEndTests",
        dependencies: [
            "pushmta", "pushmta-lab", "gateway-simulator", "Laboratory", "LaboratoryStore", "Administration",
            "ProcessEvents", "MetricsEndpoint",
            "OperatingSystem", "Gateways", "Store", "PostgresClient",
            "CurlClient", "COpenSSL", "Content", "PushCore",
            "TestSupport", .crypto, .nioCore, .nioPosix, .subprocess, .system, .logging,
        ],
        // Scripts that psql runs.
        exclude: ["Walks"],
        swiftSettings: swiftSettings
    ),
]

// What `Deploy/test instructions` counts. It looks into modules as tests do, which takes a build of its own (-enable-testing).
let counted: [Target] = [
    .executableTarget(
        name: "InstructionCounts",
        dependencies: ["MTAChild", "Gateways", "HTTP2", "Store", "PostgresClient", "PushCore", .nioCore],
        path: "Tests/InstructionCounts",
        swiftSettings: swiftSettings
    )
]

// Builds a part of the package only, by target names separated with commas, and the own targets that these need.
var only = Context.environment["PUSHMTA_TARGETS"].map { Set($0.split(separator: ",").map(String.init)) }
var open = only.map(Array.init) ?? []
while let name = open.popLast() {
    for case .byNameItem(let needed, _) in (targets + counted).first(where: { $0.name == name })?.dependencies ?? []
    where only?.insert(needed).inserted == true {
        open.append(needed)
    }
}
let selected = only.map { only in (targets + counted).filter { only.contains($0.name) } } ?? targets
let libraries: [Product] =
    (selected.contains { $0.name == "ClockShift" }
        ? [.library(name: "ClockShift", type: .dynamic, targets: ["ClockShift"])] : [])
    + (selected.contains { $0.name == "MobileSDK" } ? [.library(name: "MobileSDK", targets: ["MobileSDK"])] : [])

let package = Package(
    name: "PushMTA",
    platforms: [.macOS(.v15), .iOS(.v15)],
    products: libraries,
    dependencies: [
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-certificates", from: "1.21.1"),
        .package(url: "https://github.com/apple/swift-asn1", from: "1.7.4"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-system", from: "1.8.1"),
        .package(
            url: "https://github.com/apple/swift-configuration",
            from: "1.4.0",
            traits: ["YAML", "CommandLineArguments"]
        ),
        .package(url: "https://github.com/swiftlang/swift-subprocess", from: "1.0.2", traits: []),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
        .package(url: "https://github.com/vapor/jwt-kit", from: "5.7.1"),
        .package(url: "https://github.com/hummingbird-project/swift-mustache", from: "2.1.1"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: ["FullFoundation"]),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.2"),
        .package(url: "https://github.com/HdrHistogram/hdrhistogram-swift", from: "0.2.0"),
    ],
    targets: selected
)
