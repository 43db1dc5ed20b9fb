import Testing

@testable import PostgresClient

@Suite struct ServerListTests {
    private func overrides(_ string: String) -> [String] {
        ServerAlternatives(string).overrides.map { $0.map { "\($0.name)=\($0.value)" }.joined(separator: " ") }
    }

    @Test func severalServersAreTriedOneByOne() {
        #expect(overrides("host=a,b port=1,2") == ["host=a port=1", "host=b port=2"])
        #expect(overrides("host=a,b,c port=7") == ["host=a port=7", "host=b port=7", "host=c port=7"])
        let uri = "postgresql://u:p@a:1,b:2/d?target_session_attrs=read-write"
        #expect(overrides(uri) == ["host=a port=1", "host=b port=2"])
        let addresses = ["hostaddr=10.0.0.1 port=1", "hostaddr=10.0.0.2 port=1"]
        #expect(overrides("hostaddr=10.0.0.1,10.0.0.2 port=1") == addresses)
        #expect(
            overrides("host=a,b hostaddr=10.0.0.1,10.0.0.2 port=,9") == [
                "host=a hostaddr=10.0.0.1 port=5432", "host=b hostaddr=10.0.0.2 port=9",
            ]
        )
    }

    @Test func whatCannotBeDividedIsLeftToLibpq() {
        for string in [
            "", "name", "host=a", "host=a,,b", "host=a,b port=1,2,3", "host=a,b hostaddr=10.0.0.1",
            "host=a,b target_session_attrs=prefer-standby", "nonsense = = =",
        ] {
            #expect(overrides(string) == [""], "\(string)")
        }
    }

    @Test func theStringsTimeLimitCounts() {
        #expect(ServerAlternatives("host=a connect_timeout=7").connectTimeout == .seconds(7))
        #expect(ServerAlternatives("host=a connect_timeout=1").connectTimeout == .seconds(2))
        #expect(ServerAlternatives("host=a connect_timeout=0").connectTimeout == nil)
        #expect(ServerAlternatives("host=a").connectTimeout == nil)
    }

    @Test func refusalsTellTheirState() {
        let full = RefusalText(
            """
            connection to server on socket "/s/.s.PGSQL.5432" failed: FATAL:  53300: sorry, too many clients already
            LOCATION:  InitProcess, proc.c:353
            """
        )
        #expect(full.sqlState == "53300")
        #expect(
            full.text
                == "connection to server on socket \"/s/.s.PGSQL.5432\" failed: FATAL:  sorry, too many clients already"
        )
        let silent = RefusalText("connection to server at \"a\", port 1 failed: Connection refused\n\tIs it running?")
        #expect(silent.sqlState == nil)
        #expect(silent.text.hasSuffix("refused Is it running?"))
        #expect(RefusalText("").text.isEmpty)
    }

    @Test func aWrongPasswordEndsTheSearch() {
        for (state, isFinal) in [("28P01", true), ("3D000", true), ("53300", false), ("57P03", false)] {
            let error = PostgresError(code: .connection, sqlState: state, message: "")
            #expect(error.isFinalForAllServers == isFinal)
        }
        #expect(!PostgresError(code: .connection, message: "").isFinalForAllServers)
    }
}
