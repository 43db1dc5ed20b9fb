import Administration
import Foundation
import TestSupport
import Testing

@testable import pushmta

/// The container files name this version and give each role only the rights that it needs.
@Suite struct DeploymentFileTests {
    private func text(_ file: String) throws -> String {
        try String(contentsOfFile: ProjectFolder.path + "/Deploy/" + file, encoding: .utf8)
    }

    @Test func imagesHaveTheVersionAsTheirTag() throws {
        let version = ProductVersion.text
        let manifest = try text("kubernetes/pushmta.yaml")
        let images = manifest.matches(of: /image: (\S+)/).map { String($0.1) }
        #expect(images.count == 5 && images.allSatisfy { $0 == "pushmta:\(version)" }, "\(images)")
        #expect(manifest.contains("name: pushmta-migrate-\(version.replacing(".", with: "-"))\n"))
        #expect(try text("container/compose.yaml").contains("image: pushmta:${PUSHMTA_VERSION:-\(version)}\n"))
        #expect(try text("container/Containerfile").contains("-t pushmta:\(version) "))
    }

    /// The processes that devices and people reach have their own logins.
    @Test func webProcessAndConsoleDoNotGetTheOwnersPassword() throws {
        let compose = try text("container/compose.yaml")
        for name in ["web", "console"] {
            let start = try #require(compose.range(of: "\n  \(name):\n"))
            let service = compose[start.upperBound...]
            let end = service.range(of: #"\n  [a-z]+:\n"#, options: .regularExpression)?.lowerBound ?? service.endIndex
            #expect(!service[..<end].contains("*owner") && !service[..<end].contains("{PUSHMTA_PASSWORD"), "\(name)")
        }
        let manifest = try text("kubernetes/pushmta.yaml")
        for name in ["web", "console"] {
            #expect(
                manifest.contains(
                    "PUSHMTA_\(name.uppercased())_DATABASE_URL, valueFrom: {secretKeyRef: {name: pushmta-\(name),"
                )
            )
        }
    }

    @Test func theDatabaseOfContainersHasTheRolesOfTheGuide() throws {
        func roles(_ file: String) throws -> Set<String> {
            Set(try text(file).matches(of: /CREATE ROLE (\w+) NOLOGIN/).map { String($0.1) })
        }
        let guide = try roles("guide/install.md")
        #expect(guide.count > 5)
        #expect(try roles("container/database.sh") == guide)
    }

    /// Port names have at most 15 letters, and every process with a metrics page names its port.
    @Test func everyPageOfMetricsIsNamed() throws {
        let manifest = try text("kubernetes/pushmta.yaml")
        for port in ["9741", "9742", "9743", "9744"] {
            #expect(manifest.contains("containerPort: \(port)}"), "\(port)")
        }
        for name in manifest.matches(of: /\{name: (\S+), containerPort/) { #expect(name.1.count <= 15, "\(name.1)") }
    }
}
