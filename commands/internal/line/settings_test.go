package line

import "testing"

func TestAccountsElsewhere(t *testing.T) {
	for conf, want := range map[string]bool{
		"":                        false,
		"passwd: files\n":         false,
		"passwd:\tfiles systemd":  false,
		"passwd: compat # ldap\n": false,
		"passwd: files [NOTFOUND=return] compat\ngroup: ldap\n": false,
		"group: files\npasswd: files sss\n":                     true,
		"  passwd: ldap files":                                  true,
	} {
		if got := namesElsewhere(conf); got != want {
			t.Errorf("%q: %t", conf, got)
		}
	}
}
